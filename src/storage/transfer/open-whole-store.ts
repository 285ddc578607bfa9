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

/** What a store at an address is called: fit to be shown, and the same for the same file or server and database. */
export function nameStore(address: string): string {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].name(location);
}

/**
 * Runs a task on a store as it is when the task first reads it, while others go on writing to it; nothing in it can be
 * changed. Throws OperatorError where it cannot be opened, AppError `unavailable` where its database fails later.
 */
export async function readStore<T>(address: string, task: WholeStoreTask<T>): Promise<T> {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].read(location, task);
}

/**
 * Runs a task on a store that has the newest schema while nobody else can write to it; all that the task wrote is kept
 * when it has ended, nothing where it throws. Throws as `readStore` does.
 */
export async function writeStore<T>(address: string, task: WholeStoreTask<T>): Promise<T> {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].write(location, task);
}
