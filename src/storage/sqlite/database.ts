import { Kysely } from 'kysely';
import type { Database } from '../database.ts';
import { compareSchema, listRunMigrations, migrate } from '../migrations/migrate.ts';
import { toOpeningError } from '../opening-error.ts';
import type { Tables } from '../tables.ts';
import { claimMigrating } from './claim-serving.ts';
import {
  lockWaitMsMax,
  openConnection,
  openReadingConnection,
  repeatWhileBusy,
  toStorageError,
} from './connection.ts';
import { createSqliteDialect } from './dialect.ts';
import { loadRows } from './load.ts';
import { requireOneName } from './one-name.ts';
import { query } from './query.ts';
import { startThread } from './start-thread.ts';
import { makeStoreFile } from './store-file.ts';
import { createSqliteWriter } from './writer.ts';

const readBusyTimeoutMs = 1_000;

/**
 * Opens the SQLite store at `path`, creates it and its folder if necessary, and migrates it to the newest schema.
 * Reads use a connection of the calling thread, writes one of the writing thread. So a page never sees half a commit,
 * and the caller never waits for a disk sync. Throws OperatorError of one line if the file cannot be used.
 */
export async function openSqlite(path: string): Promise<Database> {
  try {
    requireOneName(path);
    await makeStoreFile(path);
    await repeatWhileBusy(() => migrateFile(path), lockWaitMsMax);
    return await connect(path);
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

async function migrateFile(path: string): Promise<void> {
  const connection = openConnection(path, 0);
  try {
    const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection.raw) });
    // A command beside a writing service must not wait for the lock if there is nothing to migrate.
    const schema = compareSchema(await listRunMigrations(db));
    if (schema === 'newest') return;
    const release = schema === 'older' ? claimMigrating(path) : () => undefined;
    try {
      await db.transaction().execute((transaction) => migrate(transaction, 'sqlite'));
    } finally {
      release();
    }
  } finally {
    connection.close();
  }
}

async function connect(path: string): Promise<Database> {
  const thread = await startThread(path);
  const reading = await repeatWhileBusy(() => openReadingConnection(path, readBusyTimeoutMs), lockWaitMsMax);
  const writer = createSqliteWriter(thread);

  const read: NonNullable<Database['readNow']> = (statement, parameters) => {
    try {
      return query(reading, statement, parameters);
    } catch (error) {
      throw toStorageError(error);
    }
  };

  return {
    engine: 'sqlite',
    read,
    readNow: read,
    watchAccounts: null,
    run: writer.run,
    transact: writer.transact,
    async load(...rows) {
      try {
        return await loadRows(path, ...rows);
      } catch (error) {
        throw toStorageError(error);
      }
    },
    async close() {
      // Closes the reading connection first, so that the writing thread has the last one and makes the last
      // checkpoint.
      reading.close();
      await writer.close();
    },
  };
}
