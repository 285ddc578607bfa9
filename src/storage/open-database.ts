import type { Database } from './database.ts';
import { parseStoreAddress } from './store-address.ts';

/** Imports only the engine that is used, with its driver. */
const openers = {
  sqlite: async (path: string, thread?: URL) =>
    (await import('./sqlite/database.ts')).openSqlite(path, thread),
  postgres: async (url: string) => (await import('./postgres/database.ts')).openPostgres(url),
};

/**
 * Opens the store at an address (store-address.ts) and migrates it to the newest schema. Throws OperatorError of one
 * line if the address is wrong or the store cannot be used. `writingThread` is the entry of SQLite's writing thread; by
 * default it knows the transactions of the service.
 */
export async function openDatabase(address: string, writingThread?: URL): Promise<Database> {
  const { engine, location } = parseStoreAddress(address);
  return openers[engine](location, writingThread);
}
