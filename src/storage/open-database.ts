import type { Database } from './database.ts';
import { parseStoreAddress } from './store-address.ts';

/** Imports only the engine that is used, with its driver. */
const openers = {
  sqlite: async (path: string) => (await import('./sqlite/database.ts')).openSqlite(path),
  postgres: async (url: string) => (await import('./postgres/database.ts')).openPostgres(url),
};

/**
 * Opens the store at an address (store-address.ts) and migrates it to the newest schema. Throws OperatorError of one
 * line if the address is wrong or the store cannot be used.
 */
export async function openDatabase(address: string): Promise<Database> {
  const { engine, location } = parseStoreAddress(address);
  return openers[engine](location);
}
