import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { describeTable } from '../transfer/copied-tables.ts';
import { batchRowsMax, type Row, type WholeStore, type WholeStoreTask } from '../transfer/whole-store.ts';
import { claimServing, requireOneName } from './claim-serving.ts';
import {
  lockWaitMsMax,
  openConnection,
  openReadOnly,
  repeatWhileBusy,
  type SqliteConnection,
  toStorageError,
} from './connection.ts';

/** Implements `readStore` on SQLite. Does not create a missing file. */
export async function readSqliteStore<T>(path: string, task: WholeStoreTask<T>): Promise<T> {
  requireOneName(path);
  return inTransaction({ raw: openReadOnly(path) }, path, 'begin', task);
}

/** Implements `writeStore` on SQLite. */
export async function writeSqliteStore<T>(path: string, task: WholeStoreTask<T>): Promise<T> {
  return inTransaction(openConnection(path, 0), path, 'begin immediate', task);
}

async function inTransaction<T>(
  { raw, requireInPlace = () => undefined }: Pick<SqliteConnection, 'raw'> & Partial<SqliteConnection>,
  path: string,
  begin: string,
  task: WholeStoreTask<T>,
): Promise<T> {
  try {
    await repeatWhileBusy(() => raw.exec(begin), lockWaitMsMax);
    const result = await task(createWholeStore(raw, path));
    requireInPlace();
    raw.exec('commit');
    return result;
  } catch (error) {
    throw toStorageError(error);
  } finally {
    raw.close();
  }
}

function createWholeStore(raw: DatabaseSync, path: string): WholeStore {
  function prepare(sql: string) {
    const statement = raw.prepare(sql);
    // Also needed for an insert, which returns the id of the row. Without bigints, Node throws if the id is above
    // 2^53.
    statement.setReadBigInts(true);
    statement.setReturnArrays(true);
    return statement;
  }
  const query = (sql: string) => prepare(sql).all() as unknown as readonly Row[];

  return {
    query: async (sql) => query(sql),

    async readTable(name) {
      const rows = query(`select name from pragma_table_info('${name}')`);
      return describeTable(
        name,
        rows.map(([column]) => String(column)),
      );
    },

    async *readRows({ name, columns, key }) {
      const select = prepare(`select ${columns.join(', ')} from ${name} order by ${key.join(', ')}`);
      let batch: Row[] = [];
      for (const row of select.iterate()) {
        batch.push(row as unknown as Row);
        if (batch.length < batchRowsMax) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },

    async replaceRows({ name, columns }, batches) {
      raw.exec(`delete from ${name}`);
      const places = columns.map(() => '?').join(', ');
      const insert = prepare(`insert into ${name} (${columns.join(', ')}) values (${places})`);
      for await (const batch of batches) for (const row of batch) insert.run(...(row as SQLInputValue[]));
    },

    async lastId({ name }) {
      const [row] = query(`select seq from sqlite_sequence where name = '${name}'`);
      return (row?.[0] as bigint | undefined) ?? 0n;
    },

    async setLastId({ name }, id) {
      raw.exec(`delete from sqlite_sequence where name = '${name}'`);
      raw.exec(`insert into sqlite_sequence (name, seq) values ('${name}', ${id})`);
    },

    async requireUnserved() {
      const release = await claimServing(`sqlite:${path}`);
      release();
    },
  };
}
