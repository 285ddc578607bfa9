import { hash } from 'node:crypto';
import { renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { Kysely } from 'kysely';
import type { Database, Parameters, Statement } from '../database.ts';
import { makeStoreFile, syncFolder } from '../durable-files.ts';
import { listRunMigrations, migrate, newestSchema, requireSchema } from '../migrations/migrate.ts';
import { toOpeningError } from '../store-errors.ts';
import type { Tables } from '../tables.ts';
import { backupSqlite } from './backup.ts';
import { claimMigrating, requireOneName } from './claim-serving.ts';
import {
  lockWaitMsMax,
  openConnection,
  openReadingConnection,
  repeatWhileBusy,
  toStorageError,
} from './connection.ts';
import { createSqliteDialect } from './dialect.ts';
import { loadRows } from './load.ts';
import { requireStore } from './require-store.ts';
import { startThread } from './start-thread.ts';
import { toCall } from './statements.ts';
import { createWriteQueue } from './write-queue.ts';

/** The entry of the thread that knows the transactions of the service. */
const defaultThread = new URL('../../writing-thread.ts', import.meta.url);

const readBusyTimeoutMs = 1_000;

/**
 * Opens the SQLite store at `path` and migrates it to the newest schema. Creates the file and its folder if necessary.
 * Reads use a connection of the calling thread, and writes the thread whose entry is `writingThread`, so that a disk sync
 * does not block the caller. Throws OperatorError as `openDatabase` does.
 */
export async function openSqlite(
  path: string,
  writingThread = defaultThread,
  mayMigrate = true,
): Promise<Database> {
  try {
    if (mayMigrate) {
      requireOneName(path);
      await makeStoreFile(path);
      await repeatWhileBusy(() => migrateFile(path), lockWaitMsMax);
    } else requireStore(path);
    return await connect(path, writingThread);
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

async function migrateFile(path: string): Promise<void> {
  const connection = openConnection(path, 0);
  try {
    connection.raw.function('sha256', (text) => hash('sha256', String(text), 'buffer'));
    const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection.raw) });
    // This check comes before the lock, so that a service that writes does not delay a command that has nothing to
    // migrate.
    const schema = requireSchema(await listRunMigrations(db), resolve(path), true);
    if (schema === 'newest') return;
    const release = schema === 'older' ? await claimMigrating(path) : () => undefined;
    try {
      if (schema === 'older') await keepCopy(path);
      await db.transaction().execute((transaction) => migrate(transaction, 'sqlite'));
    } finally {
      release();
    }
  } finally {
    connection.close();
  }
}

/**
 * Copies a store of an older release to `<store>.before-<schema>`, for a way back. A copy that an interrupted migration
 * left is replaced.
 */
async function keepCopy(path: string): Promise<void> {
  const copy = `${path}.before-${newestSchema.at(-1)}`;
  const unfinished = `${copy}.tmp`;
  rmSync(unfinished, { force: true });
  await makeStoreFile(unfinished, statSync(path).mode & 0o600);
  backupSqlite(path, unfinished);
  const file = await open(unfinished, 'r+');
  await file.sync();
  await file.close();
  renameSync(unfinished, copy);
  await syncFolder(dirname(path));
}

async function connect(path: string, writingThread: URL): Promise<Database> {
  const thread = await startThread(path, writingThread);
  const reading = await repeatWhileBusy(() => openReadingConnection(path, readBusyTimeoutMs), lockWaitMsMax);
  const queue = createWriteQueue(thread);

  const readNow: NonNullable<Database['readNow']> = <P extends Parameters, R>(
    statement: Statement<P, R>,
    parameters: P,
  ) => {
    try {
      return reading.run(toCall(statement, parameters)) as readonly R[];
    } catch (error) {
      throw toStorageError(error);
    }
  };

  return {
    engine: 'sqlite',
    read: async (statement, parameters) => readNow(statement, parameters),
    readNow,
    countConnections: queue.count,
    run: async (statement, parameters) => queue.add(toCall(statement, parameters)),
    transact: ({ name }, input) => queue.add({ name, input }),
    async load(...rows) {
      try {
        return await loadRows(path, ...rows);
      } catch (error) {
        throw toStorageError(error);
      }
    },
    async close() {
      // First, so that the writing thread has the last connection, which makes the final checkpoint.
      reading.close();
      await queue.close();
    },
  };
}
