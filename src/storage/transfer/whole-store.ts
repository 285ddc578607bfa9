import type { Value } from '../database.ts';
import type { CopiedTable } from './copied-tables.ts';

/** The values of a row, in the order of its table's columns. */
export type Row = readonly Value[];

/**
 * A whole store inside one transaction, on a separate connection without timeouts. A copy reads from one such store and
 * writes to another. Methods fail as the database does (database.ts). Wait for each call before the next call.
 */
export interface WholeStore {
  /** Returns the rows of a statement. The statement must work on every engine. */
  query(sql: string): Promise<readonly Row[]>;
  /** Returns a table with all its columns. */
  readTable(name: CopiedTable['name']): Promise<CopiedTable>;
  /**
   * Returns all rows of a table in the order of its key, `batchRowsMax` at a time. The order is the same on every
   * engine.
   */
  readRows(table: CopiedTable): AsyncGenerator<readonly Row[]>;
  /** Replaces all rows of a table, including their ids. */
  replaceRows(table: CopiedTable, batches: AsyncIterable<readonly Row[]>): Promise<void>;
  /** Returns the highest id that a table has or has ever assigned. Returns 0 if there is none. */
  lastId(table: CopiedTable): Promise<bigint>;
  /** Makes a table assign new ids only after this id. On PostgreSQL, a rollback does not undo this. */
  setLastId(table: CopiedTable, id: bigint): Promise<void>;
  /** Throws OperatorError while a service uses the store. */
  requireUnserved(): Promise<void>;
}

/** A task on a whole store inside its transaction. If the task rejects, its writes are rolled back. */
export type WholeStoreTask<T> = (store: WholeStore) => Promise<T>;

/** Maximum number of rows that each side of a copy has in memory at once. */
export const batchRowsMax = 5_000;
