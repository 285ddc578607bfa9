import { selectAnyKey } from './accounts/api-key-rows.ts';
import type { Keyring } from './accounts/keyring.ts';
import type { Config, Environment } from './config.ts';
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
  log.warn({ keyIds, andMore }, describeForeignKeys(keyIds, andMore, environment));
}

/** Returns the words of a start and of the doctor for keys of other environments. */
export function describeForeignKeys(
  keyIds: readonly string[],
  mayBeMore: boolean,
  environment: Environment,
): string {
  const more = mayBeMore ? ' and maybe more' : '';
  return `keys of another environment do not work in ${environment}: ${keyIds.join(', ')}${more}`;
}

/** Logs a warning if the store has no keys. Only in development does the service create a first key. */
export async function warnOfNoKeys({ database }: Store, { environment }: Config, log: Log): Promise<void> {
  if (environment === 'development' || (await database.read(selectAnyKey, { count: 1n })).length > 0) return;
  log.warn('the store has no keys: "animal-store keys create --plan free --account NAME" creates one');
}
