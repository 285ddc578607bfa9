import { createAccounts } from '../accounts/accounts.ts';
import type { KeyEnvironment } from '../accounts/api-key.ts';
import { createKeyring } from '../accounts/keyring.ts';
import type { Actor, Authorship } from '../audit/audit-log.ts';
import type { Category } from '../categories/categories.ts';
import { putCategory, removeCategory } from '../categories/categories.ts';
import type { Clock } from '../clock.ts';
import { createBans } from '../limits/bans.ts';
import { changeLog, type LogChange } from '../observability/log-changes.ts';
import { closeOrder, type OrderAction } from '../orders/close-order.ts';
import { toOrder } from '../orders/order.ts';
import { addPetByHand, edit } from '../pets/catalogue.ts';
import type { NewPet, PetPatch } from '../pets/pet.ts';
import type { IfMatch } from '../pets/pet-values.ts';
import { randomText } from '../random-text.ts';
import type { Database } from '../storage/database.ts';
import { createOperatorWebhooks } from '../webhooks/operator-webhooks.ts';
import type { SecretBox } from '../webhooks/secret-box.ts';
import { createOperators } from './operators.ts';
import { createSessions } from './sessions.ts';

/**
 * Returns a function that creates the changes of an operator for an actor, whom the audit log names. A change, its
 * events and its entry in the audit log are one transaction. The methods for animals, categories and orders throw the
 * same errors as the HTTP operations. The text of new keys contains `environment`. `box` opens the secrets of webhooks.
 */
export function prepareChanges(
  database: Database,
  clock: Clock,
  environment: KeyEnvironment,
  box: SecretBox,
) {
  return (actor: Actor) => {
    const byNow = (): Authorship => ({ actor, nowMs: clock() });

    return {
      accounts: createAccounts(database, clock, actor),
      keyring: createKeyring(database, clock, environment, actor),
      bans: createBans(database, clock, actor),
      allWebhooks: createOperatorWebhooks(database, clock, box, actor),
      operators: createOperators(database, clock, actor),
      sessions: createSessions(database, clock, actor),

      addPet: (newPet: NewPet) => database.transact(addPetByHand, { newPet, by: byNow() }),
      changePet: (id: bigint, patch: PetPatch, tags: IfMatch) =>
        edit(database, { id, patch, tags, by: byNow() }),
      async deletePet(id: bigint): Promise<void> {
        await edit(database, { id, patch: null, tags: null, by: byNow() });
      },
      putCategory: ({ id, name }: Category) => database.transact(putCategory, { id, name, by: byNow() }),
      deleteCategory: (id: bigint) => database.transact(removeCategory, { id, by: byNow() }),
      /** Every running instance applies it within 2 s. */
      changeLog: (change: LogChange) =>
        database.transact(changeLog, { id: randomText(16), change, by: byNow() }),
      /** Idempotent. A repeated call adds no entry to the audit log. */
      async closeOrder(action: Exclude<OrderAction, 'complete'>, id: bigint) {
        const { row } = await database.transact(closeOrder, { action, id, accountId: null, by: byNow() });
        return toOrder(row, true);
      },
    };
  };
}

export type ChangeAs = ReturnType<typeof prepareChanges>;

export type Changes = ReturnType<ChangeAs>;
