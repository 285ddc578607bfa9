import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { requireSchema } from '../migrations/migrate.ts';
import { isMissingTable, toOpeningError } from '../store-errors.ts';
import { requireOneName } from './claim-serving.ts';
import { openReadOnly } from './connection.ts';

/**
 * Throws OperatorError of one line if there is no store at a path, if it cannot be read, or if its schema is not that of
 * this release. Changes nothing.
 */
export function requireStore(path: string): void {
  requireOneName(path);
  try {
    requireSchema(isMissing(path) ? [] : readMigrations(path), resolve(path), false);
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

function isMissing(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/**
 * Returns the names of the migrations that ran in a file. Empty if it has no schema. Throws OperatorError if the file
 * cannot be opened, and SQLite's error if it cannot be read.
 */
export function readMigrations(path: string): string[] {
  const store = openReadOnly(path);
  try {
    const rows = store.prepare('select name from schema_migrations order by name').all();
    return rows.map(({ name }) => String(name));
  } catch (error) {
    if (isMissingTable(error)) return [];
    throw error;
  } finally {
    store.close();
  }
}
