import { selectAnyKey } from './accounts/api-key-rows.ts';
import type { Keyring } from './accounts/keyring.ts';
import type { Config } from './config.ts';
import type { Log } from './observability/log.ts';
import type { Store } from './store.ts';

/** How many keys of other environments the warning names. */
const foreignKeysMax = 10;

/** Warns of keys of other environments: a key works only in its own. Copied stores have such keys. */
export async function warnOfForeignKeys(keyring: Keyring, { environment }: Config, log: Log): Promise<void> {
  const found = await keyring.listForeign(foreignKeysMax + 1);
  if (found.length === 0) return;
  const keyIds = found.slice(0, foreignKeysMax);
  const andMore = found.length > foreignKeysMax;
  log.warn({ keyIds, andMore }, `keys of another environment do not work in ${environment}`);
}

/** Warns of a store without keys. Only development makes a first key by itself. */
export async function warnOfNoKeys({ database }: Store, { environment }: Config, log: Log): Promise<void> {
  if (environment === 'development' || (await database.read(selectAnyKey, { count: 1n })).length > 0) return;
  log.warn('the store has no keys: "animal-store keys create --plan free --account NAME" makes one');
}
