import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SQLInputValue } from 'node:sqlite';
import { Kysely } from 'kysely';
import { OperatorError } from '../errors.ts';
import { type Database, step } from './database.ts';
import { migrate } from './migrations/migrate.ts';
import { openConnection, type SqliteConnection, toStorageError } from './sqlite-connection.ts';
import { createSqliteDialect } from './sqlite-dialect.ts';
import { createSqliteWriter } from './sqlite-writer.ts';
import type { Tables } from './tables.ts';

const readBusyTimeoutMs = 1_000;
const migrationBusyTimeoutMs = 30_000;

/**
 * Opens the embedded store in the file at `path`, made with its folder where there is none, and brings it to the
 * newest schema. Reads go over one connection and writes over another, so that a page never sees half a commit.
 * Throws OperatorError with one clear line where the file cannot be used.
 */
export async function openSqlite(path: string): Promise<Database> {
  try {
    mkdirSync(dirname(path), { recursive: true });
    await migrateFile(path);
    return connect(path);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new OperatorError(`the database ${path} cannot be opened: ${reason}`, { cause: error });
  }
}

async function migrateFile(path: string): Promise<void> {
  const connection = openConnection(path, migrationBusyTimeoutMs);
  try {
    await migrate(new Kysely<Tables>({ dialect: createSqliteDialect(connection.raw) }), 'sqlite');
  } finally {
    connection.close();
  }
}

function connect(path: string): Database {
  const reading = openConnection(path, readBusyTimeoutMs);
  // The writer waits for other processes between turns, never inside one: see sqlite-writer.ts.
  const writing = openConnection(path, 0);
  const writer = createSqliteWriter(writing);

  return {
    engine: 'sqlite',
    async read(statement, parameters) {
      try {
        return reading.query(statement, parameters);
      } catch (error) {
        throw toStorageError(error);
      }
    },
    run: (statement, parameters) => writer.transact(() => step(statement, parameters)),
    transact: (work) => writer.transact(work),
    load: (table, columns, batches, onWrite) => loadRows(path, table, columns, batches, onWrite),
    async close() {
      await writer.drain();
      writing.close();
      reading.close();
    },
  };
}

/**
 * The rows wait in a temporary table outside the store's file, so the service is kept from writing only while they
 * are copied, about a second for a million.
 */
async function loadRows(
  path: string,
  table: keyof Tables,
  columns: readonly string[],
  batches: AsyncIterable<readonly (readonly unknown[])[]>,
  onWrite: () => void = () => undefined,
): Promise<number> {
  const connection = openConnection(path, migrationBusyTimeoutMs);
  const { raw } = connection;
  try {
    const names = columns.join(', ');
    raw.exec(`create temp table loaded as select ${names} from ${table} where false`);
    await stageRows(connection, columns, batches);
    onWrite();
    raw.exec('begin immediate');
    const { changes } = raw
      .prepare(`insert into ${table} (${names}) select ${names} from loaded order by rowid`)
      .run();
    raw.exec('commit');
    return Number(changes);
  } finally {
    connection.close();
  }
}

async function stageRows(
  { raw }: SqliteConnection,
  columns: readonly string[],
  batches: AsyncIterable<readonly (readonly unknown[])[]>,
): Promise<void> {
  const insert = raw.prepare(`insert into temp.loaded values (${columns.map(() => '?').join(', ')})`);
  for await (const batch of batches) {
    raw.exec('begin');
    for (const row of batch) insert.run(...(row as SQLInputValue[]));
    raw.exec('commit');
  }
}
