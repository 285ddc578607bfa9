import { resolve } from 'node:path';
import { describeServer } from '../postgres/client.ts';
import { readPostgresStore, writePostgresStore } from '../postgres/whole-store.ts';
import { readSqliteStore, writeSqliteStore } from '../sqlite/whole-store.ts';
import { parseStoreAddress } from '../store-address.ts';
import type { WholeStoreTask } from './whole-store.ts';

const engines = {
  sqlite: { name: resolve, read: readSqliteStore, write: writeSqliteStore },
  postgres: { name: describeServer, read: readPostgresStore, write: writePostgresStore },
};

/**
 * Returns the name of the store at an address. The name contains no password, so it may be shown. Two addresses have
 * the same name if they name the same file, or the same server and database.
 */
export function nameStore(address: string): string {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].name(location);
}

/**
 * Runs a task on a read-only snapshot of a store, taken at the first read. Other connections may keep writing. Throws
 * OperatorError if the store cannot be opened. Throws AppError `unavailable` if its database fails later.
 */
export async function readStore<T>(address: string, task: WholeStoreTask<T>): Promise<T> {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].read(location, task);
}

/**
 * Runs a task on a store with the newest schema, while no other connection can write to the store. Commits when the
 * task resolves, and rolls back if it rejects. Throws as `readStore` does.
 */
export async function writeStore<T>(address: string, task: WholeStoreTask<T>): Promise<T> {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].write(location, task);
}
