import { existsSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { foreignKeysSql, type Inspection, migrationsSql, newestRowSql } from '../inspection.ts';
import { compareSchema } from '../migrations/migrate.ts';
import { isServed } from './claim-serving.ts';

/** The state of the file of a SQLite store. */
export interface SqliteInspection extends Inspection {
  /** True if a service serves the store now (claim-serving.ts). */
  readonly isServed: boolean;
  /** `ok`, or the first fault that SQLite's quick check found. */
  readonly integrity: string;
  /** The size of the file, and of its pages without content. */
  readonly bytes: number;
  readonly freeBytes: number;
}

const busyTimeoutMs = 2_000;

/**
 * Inspects an existing store file and reads it completely. `environment` is the environment of the store's keys.
 * Blocks the thread. Throws SQLite's error if the file is not a database.
 */
export function lookAtSqlite(path: string, environment: string): SqliteInspection {
  for (;;) {
    if (hasLog(path))
      return inspect(path, environment, new DatabaseSync(path, { readOnly: true, timeout: busyTimeoutMs }));
    // If the file changes while it is read, the result mixes two states. Then the file is read again.
    const before = identifyContents(path);
    const isAsBefore = () => !hasLog(path) && identifyContents(path) === before;
    try {
      const report = inspect(path, environment, openUntouched(path));
      if (isAsBefore()) return report;
    } catch (error) {
      if (isAsBefore()) throw error;
    }
  }
}

function hasLog(path: string): boolean {
  return existsSync(`${path}-wal`);
}

function identifyContents(path: string): string {
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

function inspect(path: string, environment: string, store: DatabaseSync): SqliteInspection {
  try {
    const migrations = hasTable(store, 'schema_migrations') ? listFirst(store, migrationsSql) : [];
    const isNewest = compareSchema(migrations) === 'newest';
    const newest = isNewest ? store.prepare(newestRowSql).get()?.['newest'] : null;
    const foreignKeys = isNewest ? listFirst(store, foreignKeysSql(environment, Date.now())) : [];
    const integrity = String(store.prepare('pragma quick_check(1)').get()?.['quick_check']);
    const newestRowMs = typeof newest === 'number' ? newest : null;
    const sizes = readSizes(store);
    return { migrations, newestRowMs, foreignKeys, integrity, ...sizes, isServed: isServed(path) };
  } finally {
    store.close();
  }
}

/** Returns the size of a store, and of its pages without content, in bytes. */
export function readSizes(store: DatabaseSync): Pick<SqliteInspection, 'bytes' | 'freeBytes'> {
  const read = (name: string) => Number(store.prepare(`pragma ${name}`).get()?.[name]);
  const pageBytes = read('page_size');
  return { bytes: read('page_count') * pageBytes, freeBytes: read('freelist_count') * pageBytes };
}

/**
 * Opens a file that has no `-wal` and is therefore complete. It is opened as immutable, because otherwise SQLite
 * would create its own files beside it and leave them there.
 */
function openUntouched(path: string): DatabaseSync {
  const address = pathToFileURL(path);
  address.searchParams.set('immutable', '1');
  return new DatabaseSync(address, { readOnly: true });
}

function hasTable(store: DatabaseSync, name: string): boolean {
  return (
    store.prepare(`select 1 from sqlite_schema where type = 'table' and name = ?`).get(name) !== undefined
  );
}

/** Returns the first column of each row. */
function listFirst(store: DatabaseSync, sql: string): string[] {
  return store
    .prepare(sql)
    .all()
    .map((row) => String(Object.values(row)[0]));
}
