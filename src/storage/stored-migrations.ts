import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { OperatorError } from '../errors.ts';
import { compareSchema, listRunMigrations } from './migrations/migrate.ts';
import { parseStoreAddress } from './store-address.ts';
import { toOpeningError } from './store-errors.ts';

/**
 * Returns the names of the migrations that ran in the store at an address, in order, or none without a store. Changes
 * nothing. Throws OperatorError if the database cannot be opened.
 */
export async function listStoredMigrations(address: string): Promise<readonly string[]> {
  const { engine, location } = parseStoreAddress(address);
  return engine === 'sqlite' ? listInFile(location) : listOnServer(location);
}

/** What the operator should do if REQUIRE_STORE keeps the service from making its store. */
export const howToBegin =
  'mount the volume of the store, or create a new store once with "animal-store migrate"';

/** Throws OperatorError if there is no store at an address, of this or an older release. Changes nothing. */
export async function requireExisting(address: string): Promise<void> {
  if (compareSchema(await listStoredMigrations(address)) !== 'none') return;
  const { engine, location } = parseStoreAddress(address);
  const where = engine === 'sqlite' ? resolve(location) : 'in the database of DATABASE_URL';
  throw new OperatorError(`there is no store ${where}, and REQUIRE_STORE is true: ${howToBegin}`);
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
  const { describeServer } = await import('./postgres/client.ts');
  const { connectToPrimary } = await import('./postgres/servers.ts');
  try {
    await using client = await connectToPrimary(url);
    return await listRunMigrations(async (sql) => (await client.query(sql)).rows);
  } catch (error) {
    throw toOpeningError(describeServer(url), error);
  }
}
