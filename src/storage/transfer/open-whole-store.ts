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

/** The name of the store at an address. It may be shown, and is the same for the same file or server and database. */
export function nameStore(address: string): string {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].name(location);
}

/**
 * Runs a task on a read-only snapshot of a store, taken at the first read. Others may keep writing. Throws
 * OperatorError if it cannot be opened, AppError `unavailable` if its database fails later.
 */
export async function readStore<T>(address: string, task: WholeStoreTask<T>): Promise<T> {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].read(location, task);
}

/**
 * Runs a task on a store with the newest schema while nobody else can write to it. Commits when the task ends; rolls
 * back if it throws. Throws as `readStore` does.
 */
export async function writeStore<T>(address: string, task: WholeStoreTask<T>): Promise<T> {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].write(location, task);
}
