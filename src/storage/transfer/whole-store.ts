import { resolve } from 'node:path';
import type { Value } from '../database.ts';
import { describeServer } from '../postgres/client.ts';
import { usePostgresStore } from '../postgres/whole-store.ts';
import { useSqliteStore } from '../sqlite/whole-store.ts';
import { parseStoreAddress } from '../store-address.ts';
import type { Tables } from '../tables.ts';

/** The values of a row by the names of the columns. */
export type Row = Readonly<Record<string, Value>>;

/**
 * A whole store inside one transaction, on a separate connection without timeouts. A copy reads from one such store and
 * writes to another. Methods fail as the database does (database.ts). Wait for each call before the next call.
 */
export interface WholeStore {
  /** Returns the rows of a statement. The statement must work on every engine. */
  query(sql: string): Promise<readonly Row[]>;
  /** Returns all rows of a table in any order, `batchRowsMax` at a time. */
  readRows(name: keyof Tables): AsyncIterable<readonly Row[]>;
  /** Replaces all rows of a table, including their ids. */
  replaceRows(name: keyof Tables, batches: AsyncIterable<readonly Row[]>): Promise<void>;
  /** Returns the highest id that a table has or has ever assigned. Returns 0 if there is none. */
  readLastId(name: keyof Tables): Promise<bigint>;
  /** Makes a table assign new ids only after this id. On PostgreSQL, a rollback does not undo this. */
  setLastId(name: keyof Tables, id: bigint): Promise<void>;
  /** Throws OperatorError while a service uses the store. */
  requireUnserved(): Promise<void>;
}

/**
 * - `read`: a read-only snapshot, taken at the first read. Other connections may keep writing.
 * - `write`: no other connection can write until it ends. The store must have the newest schema.
 */
export type Access = 'read' | 'write';

/** A task on a whole store inside its transaction. */
export type WholeStoreTask<T> = (store: WholeStore) => Promise<T>;

const engines = {
  sqlite: { name: resolve, use: useSqliteStore },
  postgres: { name: describeServer, use: usePostgresStore },
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
 * Runs a task on a store. Commits when the task resolves, and rolls back if it rejects. Throws OperatorError if the store
 * cannot be opened. Throws AppError `unavailable` if its database fails later.
 */
export async function useStore<T>(address: string, access: Access, task: WholeStoreTask<T>): Promise<T> {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].use(location, access, task);
}
