import type { Value } from '../database.ts';
import type { CopiedTable } from './copied-tables.ts';

/** The values of a row in the order of its table's columns. */
export type Row = readonly Value[];

/**
 * A whole store inside one transaction, on a separate connection without time limits. Copies read from it or write to
 * it. Methods fail as the database does (database.ts). Wait for each call before the next.
 */
export interface WholeStore {
  /** The rows of a statement that works on every engine. */
  query(sql: string): Promise<readonly Row[]>;
  /** All rows of a table in the order of its key, the same on every engine, `batchRowsMax` at a time. */
  readRows(table: CopiedTable): AsyncGenerator<readonly Row[]>;
  /** Replaces all rows of a table, ids included. */
  replaceRows(table: CopiedTable, batches: AsyncIterable<readonly Row[]>): Promise<void>;
  /** The highest id that a table ever assigned or has; 0 for none. */
  lastId(table: CopiedTable): Promise<bigint>;
  /** Makes a table continue after this id. PostgreSQL does so at once, even if the transaction is rolled back. */
  setLastId(table: CopiedTable, id: bigint): Promise<void>;
  /** Throws OperatorError while a service uses the store. */
  requireUnserved(): Promise<void>;
}

/** A task on a whole store inside its transaction. If it throws, its writes are rolled back. */
export type WholeStoreTask<T> = (store: WholeStore) => Promise<T>;

/** How many rows each side of a copy has in memory at once. */
export const batchRowsMax = 5_000;
