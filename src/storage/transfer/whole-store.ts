import type { Value } from '../database.ts';
import type { CopiedTable } from './copied-tables.ts';

/** The values of a row in the order of its table's columns. */
export type Row = readonly Value[];

/**
 * A whole store inside one transaction, on a connection of its own that has no time limits: what a copy reads from, or
 * writes to. Methods fail as those of the seam do (database.ts); one must have ended before the next is called.
 */
export interface WholeStore {
  /** The rows of a statement that reads alike on every engine. */
  query(sql: string): Promise<readonly Row[]>;
  /** All rows of a table in the order of its key, which is the same on every engine, `batchRowsMax` at a time. */
  readRows(table: CopiedTable): AsyncGenerator<readonly Row[]>;
  /** Puts rows, ids and all, in the place of those that a table holds. */
  replaceRows(table: CopiedTable, batches: AsyncIterable<readonly Row[]>): Promise<void>;
  /** The highest id that a table has ever assigned or holds; 0 where it has none. */
  lastId(table: CopiedTable): Promise<bigint>;
  /** Has a table go on with the id after this one. PostgreSQL does it at once, whatever becomes of the transaction. */
  setLastId(table: CopiedTable, id: bigint): Promise<void>;
  /** Throws OperatorError while a service uses the store. */
  requireUnserved(): Promise<void>;
}

/** What is done with a whole store inside its transaction; what it throws undoes all that it wrote. */
export type WholeStoreTask<T> = (store: WholeStore) => Promise<T>;

/** How many rows are in memory at once, on each side of a copy. */
export const batchRowsMax = 5_000;
