import { OperatorError } from '../../errors.ts';
import { newestSchema } from '../migrations/migrate.ts';
import { openDatabase } from '../open-database.ts';
import { toOpeningError } from '../opening-error.ts';
import { type CopiedRows, copyTables, type OnCopied } from './copy-tables.ts';
import { nameStore, readStore, writeStore } from './open-whole-store.ts';
import type { WholeStore } from './whole-store.ts';

/** The tables that must be empty in a target. Its other rows (a secret, old counts) are replaced. */
const tablesOfContent = ['pets', 'accounts', 'api_keys'] as const;

/**
 * Copies a whole store to an empty one, of any engine, and returns the number of rows of each table. Copies rows with
 * their ids, and the last assigned ids, so that no id is assigned twice.
 *
 * Reads the source as of one moment, and does not change it; later writes to it are not copied. Writes in one
 * transaction, which commits only after every row was read back and compared.
 *
 * Throws OperatorError if both are the same store, the source does not have the newest schema, or the target is not
 * empty or is served. Throws AppError `unavailable` if a database fails.
 */
export async function copyStore(
  from: string,
  to: string,
  onCopied: OnCopied = () => undefined,
): Promise<CopiedRows> {
  if (nameStore(from) === nameStore(to)) throw new OperatorError('a store cannot be moved to itself');
  return readStore(from, async (source) => {
    await checkSchema(source, nameStore(from));
    await (await openDatabase(to)).close();
    return writeStore(to, async (target) => {
      await checkEmpty(target, nameStore(to));
      // A running service would keep its old cursor secret. A service may start during the copy, so this is checked twice.
      await target.requireUnserved();
      const rows = await copyTables(source, target, onCopied);
      await target.requireUnserved();
      return rows;
    });
  });
}

async function checkSchema(source: WholeStore, name: string): Promise<void> {
  const migrations = await source
    .query('select name from schema_migrations order by name')
    .catch((error) => Promise.reject(toOpeningError(name, error)));
  if (migrations.join() !== newestSchema.join())
    throw new OperatorError(
      `the store ${name} does not have the schema of this release: run "migrate" with it as DATABASE_URL first`,
    );
}

async function checkEmpty(target: WholeStore, name: string): Promise<void> {
  for (const table of tablesOfContent)
    if ((await target.query(`select 1 from ${table} limit 1`)).length > 0)
      throw new OperatorError(`the store ${name} is not empty: nothing was moved`);
}
