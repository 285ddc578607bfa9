import type { Database } from './database.ts';
import { parseStoreAddress } from './store-address.ts';

/** Imports only the engine that is used, with its driver. */
const openers = {
  sqlite: async (path: string, mayMigrate: boolean, thread?: URL) =>
    (await import('./sqlite/database.ts')).openSqlite(path, thread, mayMigrate),
  postgres: async (url: string, mayMigrate: boolean) =>
    (await import('./postgres/database.ts')).openPostgres(url, undefined, mayMigrate),
};

/**
 * Opens the store at an address (store-address.ts) and migrates it to the newest schema. Throws OperatorError of one
 * line, without a password, if the address is wrong or the store cannot be used. Without `mayMigrate`, throws it also if
 * the store does not exist or has the schema of an older release, and changes nothing. `writingThread` is the entry of
 * SQLite's writing thread.
 */
export async function openDatabase(
  address: string,
  writingThread?: URL,
  mayMigrate = true,
): Promise<Database> {
  const { engine, location } = parseStoreAddress(address);
  return openers[engine](location, mayMigrate, writingThread);
}
