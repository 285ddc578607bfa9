import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { requireNoMigration } from '../migrations/migrate.ts';
import { isMissingTable } from '../store-errors.ts';
import { requireOneName } from './claim-serving.ts';
import { openReadOnly } from './connection.ts';

/**
 * Throws OperatorError of one line if there is no store at a path, or if it has the schema of an older release.
 * Changes nothing. Ignores other faults, because the code that opens the store reports them.
 */
export function requireStore(path: string): void {
  requireOneName(path);
  const migrations = isMissing(path) ? [] : readMigrations(path);
  if (migrations !== null) requireNoMigration(migrations, resolve(path));
}

function isMissing(path: string): boolean {
  try {
    statSync(path);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

/** Returns the names of the migrations that ran in a file. Empty if it has no schema, null if it cannot be read. */
export function readMigrations(path: string): string[] | null {
  try {
    const store = openReadOnly(path);
    try {
      const rows = store.prepare('select name from schema_migrations order by name').all();
      return rows.map(({ name }) => String(name));
    } finally {
      store.close();
    }
  } catch (error) {
    return isMissingTable(error) ? [] : null;
  }
}
