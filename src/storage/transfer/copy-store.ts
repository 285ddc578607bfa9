import { resolve } from 'node:path';
import { OperatorError } from '../../errors.ts';
import { requireSchema } from '../migrations/migrate.ts';
import { openDatabase } from '../open-database.ts';
import { describeServer } from '../postgres/client.ts';
import { usePostgresStore } from '../postgres/whole-store.ts';
import { useSqliteStore } from '../sqlite/whole-store.ts';
import { parseStoreAddress } from '../store-address.ts';
import { listStoredMigrations } from '../stored-migrations.ts';
import { type CopiedRows, copyTables, type OnCopied } from './copy-tables.ts';
import type { WholeStore } from './whole-store.ts';

const engines = {
  sqlite: { name: resolve, use: useSqliteStore },
  postgres: { name: describeServer, use: usePostgresStore },
};

/**
 * Runs a task in a transaction in which no other connection can write to the store, which must have the newest schema.
 * Throws OperatorError if the store cannot be opened, `unavailable` if it fails later.
 */
export async function useStore<T>(address: string, task: (store: WholeStore) => Promise<T>): Promise<T> {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].use(location, task);
}

/** Names the store at an address without its password: two addresses of the same file or database have one name. */
function nameStore(address: string): string {
  const { engine, location } = parseStoreAddress(address);
  return engines[engine].name(location);
}

/** Tables that must be empty in the target. Rows of its other tables (a secret, old counts) are replaced. */
const tablesOfContent = ['pets', 'categories', 'accounts', 'api_keys'] as const;

/**
 * Copies a store to an empty store of any engine, and returns the number of rows of each table. Rows keep their ids, and
 * no id is assigned twice. During the copy, nobody can write to the source. The target is one transaction, which commits only
 * after every row was read back and compared. Throws OperatorError if both addresses name the same store, one of them has
 * a store of another release, the source is missing or in use, or the target is not empty or in use, and AppError
 * `unavailable` if a database fails.
 */
export async function copyStore(
  from: string,
  to: string,
  onCopied: OnCopied = () => undefined,
): Promise<CopiedRows> {
  if (nameStore(from) === nameStore(to)) throw new OperatorError('a store cannot be moved to itself');
  requireSchema(await listStoredMigrations(from), nameStore(from), false);
  const migrations = await listStoredMigrations(to);
  // A target of an older release is not updated: its address may be a mistake, and its instances would not start again.
  if (migrations.length > 0) requireSchema(migrations, nameStore(to), false);
  return useStore(from, async (source) => {
    await source.requireUnserved();
    // Creates the target. No transaction runs there.
    await (await openDatabase(to, {})).close();
    return useStore(to, async (target) => {
      await checkEmpty(target, nameStore(to));
      // A running service would keep its old cursor secret. One may start during the copy, so the check runs twice.
      await target.requireUnserved();
      const rows = await copyTables(source, target, onCopied);
      await target.requireUnserved();
      // The writes of a service that started during the copy wait, and would be made after it.
      await source.requireUnserved();
      return rows;
    });
  });
}

async function checkEmpty(target: WholeStore, name: string): Promise<void> {
  for (const table of tablesOfContent)
    if ((await target.query(`select 1 from ${table} limit 1`)).length > 0)
      throw new OperatorError(`the store ${name} is not empty: nothing was moved`);
}
