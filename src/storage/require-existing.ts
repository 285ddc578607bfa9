import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { OperatorError } from '../errors.ts';
import { compareSchema, listRunMigrations } from './migrations/migrate.ts';
import { parseStoreAddress } from './store-address.ts';
import { toOpeningError } from './store-errors.ts';

/** Throws OperatorError if there is no store at an address, of this or an older release. Changes nothing. */
export async function requireExisting(address: string): Promise<void> {
  const { engine, location } = parseStoreAddress(address);
  const migrations = await (engine === 'sqlite' ? listInFile(location) : listOnServer(location));
  if (compareSchema(migrations) !== 'none') return;
  const where = engine === 'sqlite' ? resolve(location) : 'in the database of DATABASE_URL';
  throw new OperatorError(
    `there is no store ${where}, and REQUIRE_STORE is true: mount the volume of the store, or create a new store once with "animal-store migrate"`,
  );
}

// Only the engine that is used is imported, with its driver.
async function listInFile(path: string): Promise<readonly string[]> {
  const fault: unknown = await stat(path).catch(({ code }) => code);
  if (fault === 'ENOENT') return [];
  const { openUntouched } = await import('./sqlite/connection.ts');
  try {
    using store = openUntouched(path);
    return await listRunMigrations((sql) => store.prepare(sql).all());
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

async function listOnServer(url: string): Promise<readonly string[]> {
  const { usePostgresStore } = await import('./postgres/whole-store.ts');
  return usePostgresStore(url, 'read', ({ query }) => listRunMigrations(query));
}
