import { type Accounts, createAccounts } from '../accounts/accounts.ts';
import type { KeyEnvironment } from '../accounts/api-key.ts';
import { createKeyring, type Keyring } from '../accounts/keyring.ts';
import type { Actor } from '../audit/audit-entry.ts';
import type { Clock } from '../clock.ts';
import { type Bans, createBans } from '../limits/bans.ts';
import type { Database } from '../storage/database.ts';

/** The changes that an operator can make. The audit log names the actor as the author of each change. */
export interface Administration {
  readonly accounts: Accounts;
  readonly keyring: Keyring;
  readonly bans: Bans;
}

export type AdministerAs = (actor: Actor) => Administration;

/** Prepares the administration of a store for any actor. The text of new keys contains `environment`. */
export function createAdministration(
  database: Database,
  clock: Clock,
  environment: KeyEnvironment,
): AdministerAs {
  return (actor) => ({
    accounts: createAccounts(database, clock, actor),
    keyring: createKeyring(database, clock, environment, actor),
    bans: createBans(database, clock, actor),
  });
}
