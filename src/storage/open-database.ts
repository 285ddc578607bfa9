import type { Database } from './database.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';
import { parseStoreAddress } from './store-address.ts';

const openers = { sqlite: openSqlite, postgres: openPostgres };

/** Opens the store at an address (store-address.ts), brought to the newest schema; throws as its engine's opener does. */
export async function openDatabase(address: string): Promise<Database> {
  const { engine, location } = parseStoreAddress(address);
  return openers[engine](location);
}
