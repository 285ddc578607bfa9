import type { Database } from './database.ts';
import { parseStoreAddress } from './store-address.ts';

/** Only the engine that is asked for is loaded, with its driver. */
const openers = {
  sqlite: async (path: string) => (await import('./sqlite/database.ts')).openSqlite(path),
  postgres: async (url: string) => (await import('./postgres/database.ts')).openPostgres(url),
};

/** Opens the store at an address (store-address.ts), brought to the newest schema; throws as its engine's opener does. */
export async function openDatabase(address: string): Promise<Database> {
  const { engine, location } = parseStoreAddress(address);
  return openers[engine](location);
}
