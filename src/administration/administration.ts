import { type Accounts, createAccounts } from '../accounts/accounts.ts';
import type { KeyEnvironment } from '../accounts/api-key.ts';
import { createKeyring, type Keyring } from '../accounts/keyring.ts';
import type { Actor } from '../audit/act.ts';
import type { Clock } from '../clock.ts';
import { type Bans, createBans } from '../limits/bans.ts';
import type { Database } from '../storage/database.ts';

/** What an operator may change. Each change is in the audit log under the name of the actor. */
export interface Administration {
  readonly accounts: Accounts;
  readonly keyring: Keyring;
  readonly bans: Bans;
}

/** Creates the administration for an actor. */
export type AdministerAs = (actor: Actor) => Administration;

/** The administration of a store. The text of new keys contains `environment`. */
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
