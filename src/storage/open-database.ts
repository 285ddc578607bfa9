import type { Database } from './database.ts';
import { parseStoreAddress } from './store-address.ts';

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
  // Only the engine that is used is imported, with its driver.
  if (engine === 'sqlite')
    return (await import('./sqlite/database.ts')).openSqlite(location, writingThread, mayMigrate);
  return (await import('./postgres/database.ts')).openPostgres(location, undefined, mayMigrate);
}
