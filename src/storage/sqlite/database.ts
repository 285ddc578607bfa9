import { Kysely } from 'kysely';
import type { Database } from '../database.ts';
import { isNewest, migrate } from '../migrations/migrate.ts';
import { toOpeningError } from '../opening-error.ts';
import type { Tables } from '../tables.ts';
import { lockWaitMsMax, openConnection, repeatWhileBusy, toStorageError } from './connection.ts';
import { createSqliteDialect } from './dialect.ts';
import { loadRows } from './load.ts';
import { requireOneName } from './one-name.ts';
import { makeStoreFile } from './store-file.ts';
import { createSqliteWriter } from './writer.ts';

const readBusyTimeoutMs = 1_000;

/**
 * Opens the embedded store in the file at `path`, made with its folder where there is none, and brings it to the
 * newest schema. Reads go over one connection and writes over another, so that a page never sees half a commit.
 * Throws OperatorError with one clear line where the file cannot be used.
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
    // A command beside a service that writes must not wait for the lock only to find nothing to do.
    if (await isNewest(db)) return;
    await db.transaction().execute((transaction) => migrate(transaction, 'sqlite'));
  } finally {
    connection.close();
  }
}

async function connect(path: string): Promise<Database> {
  const reading = await repeatWhileBusy(() => openConnection(path, readBusyTimeoutMs), lockWaitMsMax);
  // The writer waits for other processes between turns, never inside one: see sqlite/writer.ts.
  const writing = await repeatWhileBusy(() => openConnection(path, 0), lockWaitMsMax);
  let tellWait = () => {};
  const writer = createSqliteWriter(writing, () => tellWait());

  const read: NonNullable<Database['readNow']> = (statement, parameters) => {
    try {
      return reading.query(statement, parameters);
    } catch (error) {
      throw toStorageError(error);
    }
  };

  return {
    engine: 'sqlite',
    read,
    readNow: read,
    watchAccounts: null,
    watchWaits(beforeWait) {
      tellWait = beforeWait;
    },
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
      await writer.drain();
      writing.close();
      reading.close();
    },
  };
}
