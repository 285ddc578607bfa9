import type { Value } from '../database.ts';

/** The values of a row by the names of the columns. */
export type Row = Readonly<Record<string, Value>>;

/** Maximum number of rows that each side of a copy has in memory at once. */
export const batchRowsMax = 5_000;

/** A table that a copy includes. */
export interface StoreTable {
  readonly name: string;
  /** The tables to which its foreign keys refer. */
  readonly references: readonly string[];
  /** True if the store assigns the values of its column `id`. */
  readonly assignsIds: boolean;
}

/** A whole store inside one transaction, on a connection without timeouts. Wait for each call before the next call. */
export interface WholeStore {
  query(sql: string): Promise<readonly Row[]>;
  /** Returns all tables, except those that belong to the migrations, to one server or to an older release. */
  listTables(): Promise<readonly StoreTable[]>;
  /** Returns all rows of a table in any order, `batchRowsMax` at a time. */
  readRows(name: string): AsyncIterable<readonly Row[]>;
  /** Replaces all rows of a table, including their ids. */
  replaceRows(name: string, batches: AsyncIterable<readonly Row[]>): Promise<void>;
  /** Returns the highest id that a table has or has ever assigned. Returns 0 if there is none. */
  readLastId(name: string): Promise<bigint>;
  /** Makes a table assign new ids only after this id. On PostgreSQL, a rollback does not undo this. */
  setLastId(name: string, id: bigint): Promise<void>;
  /** Throws OperatorError while a service or a command uses the store. */
  requireUnserved(): Promise<void>;
}
