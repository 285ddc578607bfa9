import { selectAnyKey } from './accounts/api-key-rows.ts';
import type { Keyring } from './accounts/keyring.ts';
import type { Config } from './config.ts';
import type { Log } from './observability/log.ts';
import type { Store } from './store.ts';

/** Maximum number of keys that the warning lists. */
const foreignKeysMax = 10;

/**
 * Logs a warning if the store has keys of other environments. Such keys come from a copied store, and do not work
 * here.
 */
export async function warnOfForeignKeys(keyring: Keyring, { environment }: Config, log: Log): Promise<void> {
  const found = await keyring.listForeign(foreignKeysMax + 1);
  if (found.length === 0) return;
  const keyIds = found.slice(0, foreignKeysMax);
  const andMore = found.length > foreignKeysMax;
  log.warn({ keyIds, andMore }, `keys of another environment do not work in ${environment}`);
}

/** Logs a warning if the store has no keys. Only in development does the service create a first key. */
export async function warnOfNoKeys({ database }: Store, { environment }: Config, log: Log): Promise<void> {
  if (environment === 'development' || (await database.read(selectAnyKey, { count: 1n })).length > 0) return;
  log.warn('the store has no keys: "animal-store keys create --plan free --account NAME" creates one');
}
