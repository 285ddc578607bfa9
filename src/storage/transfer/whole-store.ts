import { resolve } from 'node:path';
import type { Value } from '../database.ts';
import { describeServer } from '../postgres/client.ts';
import { readPostgresStore, writePostgresStore } from '../postgres/whole-store.ts';
import { readSqliteStore, writeSqliteStore } from '../sqlite/whole-store.ts';
import { parseStoreAddress } from '../store-address.ts';
import type { Tables } from '../tables.ts';
import type { CopiedTable } from './copied-tables.ts';

/** The values of a row by the names of the columns. */
export type Row = Readonly<Record<string, Value>>;

/**
 * A whole store inside one transaction, on a separate connection without timeouts. A copy reads from one such store and
 * writes to another. Methods fail as the database does (database.ts). Wait for each call before the next call.
 */
export interface WholeStore {
  /** Returns the rows of a statement. The statement must work on every engine. */
  query(sql: string): Promise<readonly Row[]>;
  /** Returns all rows of a table in the order of its key, the same on every engine, `batchRowsMax` at a time. */
  readRows(table: CopiedTable): AsyncGenerator<readonly Row[]>;
  /** Replaces all rows of a table, including their ids. */
  replaceRows(name: keyof Tables, batches: AsyncIterable<readonly Row[]>): Promise<void>;
  /** Returns the highest id that a table has or has ever assigned. Returns 0 if there is none. */
  readLastId(name: keyof Tables): Promise<bigint>;
  /** Makes a table assign new ids only after this id. On PostgreSQL, a rollback does not undo this. */
  setLastId(name: keyof Tables, id: bigint): Promise<void>;
  /** Throws OperatorError while a service uses the store. */
  requireUnserved(): Promise<void>;
}

/** A task on a whole store inside its transaction. If the task rejects, its writes are rolled back. */
export type WholeStoreTask<T> = (store: WholeStore) => Promise<T>;

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
