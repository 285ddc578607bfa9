import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { toOpeningError } from '../store-errors.ts';
import { batchRowsMax, type Row, type WholeStore } from '../transfer/whole-store.ts';
import { claimServing, requireSafePlace } from './claim-serving.ts';
import {
  lockWaitMsMax,
  openConnection,
  repeatWhileBusy,
  type SqliteConnection,
  toStorageError,
} from './connection.ts';
import { setLastId } from './restore.ts';

const tablesSql = `
  select name, sql like '%autoincrement%' as assigns_ids,
    (select json_group_array("table") from pragma_foreign_key_list(name)) as "references"
  from sqlite_schema
  where type = 'table' and name not glob 'sqlite_*' and name not glob 'schema_migrations*'
  order by name`;

/** Implements `useStore` on SQLite. */
export async function useSqliteStore<T>(path: string, task: (store: WholeStore) => Promise<T>): Promise<T> {
  await requireSafePlace(path);
  const connection = await openLocked(path);
  using raw = connection.raw;
  try {
    const result = await task(createWholeStore(raw, path));
    connection.requireInPlace();
    raw.exec('commit');
    return result;
  } catch (error) {
    throw toStorageError(error);
  }
}

/** Opens a store in a transaction in which no other connection can write. Throws OperatorError if that is not possible. */
async function openLocked(path: string) {
  let connection: SqliteConnection | null = null;
  try {
    connection = openConnection(path, 0);
    const { raw } = connection;
    await repeatWhileBusy(() => raw.exec('begin immediate'), lockWaitMsMax);
    return connection;
  } catch (error) {
    connection?.close();
    throw toOpeningError(path, error);
  }
}

function createWholeStore(raw: DatabaseSync, path: string): WholeStore {
  function prepare(sql: string) {
    const statement = raw.prepare(sql);
    // For an insert, too, which returns the id of the row: without bigints, Node throws if it is above 2^53.
    statement.setReadBigInts(true);
    return statement;
  }
  const query = (sql: string) => prepare(sql).all() as unknown as readonly Row[];

  return {
    query: async (sql) => query(sql),

    async listTables() {
      return query(tablesSql).map(({ name, references, assigns_ids }) => ({
        name: String(name),
        references: JSON.parse(String(references)),
        assignsIds: assigns_ids === 1n,
      }));
    },

    async *readRows(name) {
      let batch: Row[] = [];
      for (const row of prepare(`select * from ${name}`).iterate()) {
        batch.push(row as unknown as Row);
        if (batch.length < batchRowsMax) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },

    async replaceRows(name, batches) {
      raw.exec(`delete from ${name}`);
      let insert: StatementSync | undefined;
      for await (const batch of batches)
        for (const row of batch) {
          const columns = Object.keys(row);
          insert ??= prepare(
            `insert into ${name} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
          );
          insert.run(...(Object.values(row) as SQLInputValue[]));
        }
    },

    async readLastId(name) {
      const [row] = query(`select seq from sqlite_sequence where name = '${name}'`);
      return (row?.['seq'] as bigint | undefined) ?? 0n;
    },

    async setLastId(name, id) {
      setLastId(raw, name, id);
    },

    requireUnserved: () => requireUnserved(path),
  };
}

async function requireUnserved(path: string): Promise<void> {
  const release = await claimServing(`sqlite:${path}`);
  release();
}
