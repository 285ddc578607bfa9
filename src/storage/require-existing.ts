import { resolve } from 'node:path';
import { OperatorError } from '../errors.ts';
import { compareSchema } from './migrations/migrate.ts';
import { parseStoreAddress } from './store-address.ts';
import { listStoredMigrations } from './stored-migrations.ts';

/** Throws OperatorError if there is no store at an address, of this or an older release. Changes nothing. */
export async function requireExisting(address: string): Promise<void> {
  if (compareSchema(await listStoredMigrations(address)) !== 'none') return;
  const { engine, location } = parseStoreAddress(address);
  const where = engine === 'sqlite' ? resolve(location) : 'in the database of DATABASE_URL';
  throw new OperatorError(
    `there is no store ${where}, and REQUIRE_STORE is true: mount the volume of the store, or create a new store once with "animal-store migrate"`,
  );
}
