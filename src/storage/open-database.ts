import type { Database } from './database.ts';
import { parseStoreAddress } from './store-address.ts';

/** Loads only the engine that is used, with its driver. */
const openers = {
  sqlite: async (path: string) => (await import('./sqlite/database.ts')).openSqlite(path),
  postgres: async (url: string) => (await import('./postgres/database.ts')).openPostgres(url),
};

/**
 * Opens the store at an address (store-address.ts) and migrates it to the newest schema. Throws as the engine's
 * opener does.
 */
export async function openDatabase(address: string): Promise<Database> {
  const { engine, location } = parseStoreAddress(address);
  return openers[engine](location);
}
