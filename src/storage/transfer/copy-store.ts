import { resolve } from 'node:path';
import { OperatorError } from '../../errors.ts';
import { compareSchema, listRunMigrations } from '../migrations/migrate.ts';
import { openDatabase } from '../open-database.ts';
import { describeServer } from '../postgres/client.ts';
import { usePostgresStore } from '../postgres/whole-store.ts';
import { useSqliteStore } from '../sqlite/whole-store.ts';
import { parseStoreAddress } from '../store-address.ts';
import { toOpeningError } from '../store-errors.ts';
import { type CopiedRows, copyTables, type OnCopied } from './copy-tables.ts';
import type { Access, WholeStore } from './whole-store.ts';

const engines = {
  sqlite: { name: resolve, use: useSqliteStore },
  postgres: { name: describeServer, use: usePostgresStore },
};

/** Runs a task in a transaction. Throws OperatorError if the store cannot be opened, `unavailable` if it fails later. */
export async function useStore<T>(
  address: string,
  access: Access,
  task: (store: WholeStore) => Promise<T>,
): Promise<T> {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].use(location, access, task);
}

/** Names the store at an address without its password: two addresses of the same file or database have one name. */
function nameStore(address: string): string {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].name(location);
}

/** Tables that must be empty in the target. Rows of its other tables (a secret, old counts) are replaced. */
const tablesOfContent = ['pets', 'categories', 'accounts', 'api_keys'] as const;

/**
 * Copies a snapshot of a store to an empty store of any engine, and returns the number of rows of each table. Rows keep
 * their ids, and no id is assigned twice. The target is one transaction, which commits only after every row was read
 * back and compared. Throws OperatorError if both addresses name the same store, the source does not have the newest
 * schema, or the source is served, the target is not empty or in use, and AppError `unavailable` if a database fails.
 */
export async function copyStore(
  from: string,
  to: string,
  onCopied: OnCopied = () => undefined,
): Promise<CopiedRows> {
  if (nameStore(from) === nameStore(to)) throw new OperatorError('a store cannot be moved to itself');
  return useStore(from, 'read', async (source) => {
    await checkSchema(source, nameStore(from));
    if (await source.isServed()) throw new OperatorError(describeServed(nameStore(from)));
    // Creates the target, or updates its schema. No transaction runs here.
    await (await openDatabase(to, {})).close();
    return useStore(to, 'write', async (target) => {
      await checkEmpty(target, nameStore(to));
      // A running service would keep its old cursor secret. One may start during the copy, so the check runs twice.
      await target.requireUnserved();
      const rows = await copyTables(source, target, onCopied);
      await target.requireUnserved();
      return rows;
    });
  });
}

const describeServed = (name: string) =>
  `the store ${name} is being served: stop its instances first, because the move would not copy what they still write`;

async function checkSchema(source: WholeStore, name: string): Promise<void> {
  const migrations = await listRunMigrations(source.query).catch((error) => {
    throw toOpeningError(name, error);
  });
  if (compareSchema(migrations) !== 'newest')
    throw new OperatorError(
      `the store ${name} does not have the schema of this release: set DATABASE_URL to it and run "migrate" first`,
    );
}

async function checkEmpty(target: WholeStore, name: string): Promise<void> {
  for (const table of tablesOfContent)
    if ((await target.query(`select 1 from ${table} limit 1`)).length > 0)
      throw new OperatorError(`the store ${name} is not empty: nothing was moved`);
}
