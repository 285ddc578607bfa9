import { hash } from 'node:crypto';
import { renameSync, rmSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { Kysely, SqliteDialect } from 'kysely';
import { makeStoreFile, syncFolder } from '../durable-files.ts';
import {
  compareSchema,
  listRunMigrations,
  migrate,
  newestSchema,
  requireSchema,
} from '../migrations/migrate.ts';
import { toOpeningError } from '../store-errors.ts';
import type { Tables } from '../tables.ts';
import { backupSqlite } from './backup.ts';
import { claimMigrating, requireSafePlace, untilStarted } from './claim-serving.ts';
import { openConnection, openReadOnly } from './connection.ts';

/**
 * Throws OperatorError of one line if a path has no store of this release that can be read. Waits for a service that is
 * creating or migrating the store. Changes nothing.
 */
export async function requireStore(path: string): Promise<void> {
  await requireSafePlace(path);
  try {
    // A path below a file is not missing, and `statSync` does not tell the two apart.
    const fault = await stat(path).catch(({ code }) => code);
    if (fault === 'ENOENT') requireSchema([], resolve(path), false);
    await untilStarted(path, async () => compareSchema(await readMigrations(path)) === 'newest');
    requireSchema(await readMigrations(path), resolve(path), false);
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

/** Returns the migrations that ran in a file. Throws OperatorError if it cannot be opened, else SQLite's error. */
export async function readMigrations(path: string): Promise<string[]> {
  using store = openReadOnly(path);
  return await listRunMigrations((sql) => store.prepare(sql).all());
}

/**
 * Migrates a file to the newest schema in one transaction. Keeps a copy of a store of an older release. Throws SQLite's
 * error if another connection has the lock, and OperatorError if a service uses the store.
 */
export async function migrateFile(path: string): Promise<void> {
  // Its end rolls back a migration that has failed.
  using raw = openConnection(path, 0).raw;
  const listRun = () => listRunMigrations((sql) => raw.prepare(sql).all());
  const readSchema = async () => requireSchema(await listRun(), resolve(path), true);
  // Before the lock, so that a service that writes does not delay a command that has nothing to migrate.
  await untilStarted(path, async () => (await readSchema()) === 'newest');
  const schema = await readSchema();
  if (schema === 'newest') return;
  const release = schema === 'older' ? await claimMigrating(path) : () => undefined;
  try {
    // Another process may have migrated the store before the claim.
    if ((await readSchema()) === 'older') await keepCopy(path);
    raw.function('sha256', (text) => hash('sha256', String(text), 'buffer'));
    raw.exec('begin immediate');
    await migrate(createKysely(raw), 'sqlite');
    raw.exec('commit');
  } finally {
    release();
  }
}

/** Copies a store of an older release to `<store>.before-<schema>`, for a way back. Replaces an unfinished copy. */
async function keepCopy(path: string): Promise<void> {
  const copy = `${path}.before-${newestSchema.at(-1)}`;
  const unfinished = `${copy}.tmp`;
  rmSync(unfinished, { force: true });
  await makeStoreFile(unfinished, statSync(path).mode & 0o600);
  await backupSqlite(path, unfinished);
  renameSync(unfinished, copy);
  // Under Node's permission model, which forbids it, a copy may have its unfinished name again after a loss of power.
  await syncFolder(dirname(path));
}

function createKysely(raw: DatabaseSync): Kysely<Tables> {
  const prepare = (sql: string) => {
    const statement = raw.prepare(sql);
    const reader = statement.columns().length > 0;
    // A write returns the id of the last row. Without bigints, Node throws if the id is above 2^53.
    if (!reader) statement.setReadBigInts(true);
    const values = (parameters: readonly unknown[]) => parameters as SQLInputValue[];
    return {
      reader,
      all: (parameters: readonly unknown[]) => statement.all(...values(parameters)),
      run: (parameters: readonly unknown[]) => statement.run(...values(parameters)),
      iterate: (parameters: readonly unknown[]) => statement.iterate(...values(parameters)),
    };
  };
  return new Kysely({ dialect: new SqliteDialect({ database: { close: () => undefined, prepare } }) });
}
