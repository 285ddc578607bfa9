import { stat } from 'node:fs/promises';
import { isMissingTable } from './constraint.ts';
import { requireNoMigration } from './migrations/migrate.ts';
import { parseStoreAddress } from './store-address.ts';
import { nameStore, readStore } from './transfer/open-whole-store.ts';

/**
 * Throws OperatorError of one line if there is no store at an address, or if it has the schema of an older release.
 * Changes nothing. Ignores other faults, because the code that opens the store reports them.
 */
export async function requireStore(address: string): Promise<void> {
  const { engine, location } = parseStoreAddress(address);
  const isMissing = engine === 'sqlite' && (await isNoFile(location));
  const migrations = isMissing ? [] : await readMigrations(address);
  if (migrations !== null) requireNoMigration(migrations, nameStore(address));
}

async function isNoFile(path: string): Promise<boolean> {
  return stat(path).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
  );
}

/** Returns the names of the migrations that ran. Empty if there is no schema, null if the store cannot be read. */
async function readMigrations(address: string): Promise<string[] | null> {
  try {
    const rows = await readStore(address, (store) =>
      store.query('select name from schema_migrations order by name'),
    );
    return rows.map(([name]) => String(name));
  } catch (error) {
    return isMissingTable(error) ? [] : null;
  }
}
