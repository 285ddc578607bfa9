import { connectionsDefault } from '../setting-values.ts';
import type { Database } from './database.ts';
import type { WriterPlace } from './sqlite/writer.ts';
import { parseStoreAddress } from './store-address.ts';

/**
 * Opens the store at an address (store-address.ts) and migrates it to the newest schema. Throws OperatorError of one
 * line, without a password, if the store cannot be used. Without `mayMigrate`, changes nothing, and throws it also if
 * there is no store or one of an older release. `writer` says where the writes of SQLite run, by default on a thread.
 * `connections` is the maximum number of connections to PostgreSQL.
 */
export async function openDatabase(
  address: string,
  writer?: WriterPlace,
  mayMigrate = true,
  connections = connectionsDefault,
): Promise<Database> {
  const { engine, location } = parseStoreAddress(address);
  // Only the engine that is used is imported, with its driver.
  if (engine === 'sqlite')
    return (await import('./sqlite/database.ts')).openSqlite(location, writer, mayMigrate);
  return (await import('./postgres/database.ts')).openPostgres(location, undefined, mayMigrate, connections);
}
