import { OperatorError } from '../../errors.ts';
import { compareSchema } from '../migrations/migrate.ts';
import { openDatabase } from '../open-database.ts';
import { toOpeningError } from '../store-errors.ts';
import { type CopiedRows, copyTables, type OnCopied } from './copy-tables.ts';
import { nameStore, useStore, type WholeStore } from './whole-store.ts';

/**
 * Tables that must be empty in the target. Rows of the other tables of the target (a secret, old counts) are replaced.
 */
const tablesOfContent = ['pets', 'categories', 'accounts', 'api_keys'] as const;

/**
 * Copies a whole store to an empty store of any engine, and returns the number of rows of each table. Rows keep their
 * ids. The target assigns new ids only after the last assigned ids of the source, so no id is assigned twice.
 *
 * Reads a snapshot of the source and does not change the source. Later writes to the source are not copied. Writes the
 * target in one transaction. The transaction commits only after every row was read back and compared.
 *
 * Throws OperatorError in these cases:
 * - Both addresses name the same store.
 * - The source does not have the newest schema.
 * - The target is not empty, or a service uses it.
 *
 * Throws AppError `unavailable` if a database fails.
 */
export async function copyStore(
  from: string,
  to: string,
  onCopied: OnCopied = () => undefined,
): Promise<CopiedRows> {
  if (nameStore(from) === nameStore(to)) throw new OperatorError('a store cannot be moved to itself');
  return useStore(from, 'read', async (source) => {
    await checkSchema(source, nameStore(from));
    await (await openDatabase(to)).close();
    return useStore(to, 'write', async (target) => {
      await checkEmpty(target, nameStore(to));
      // No service may use the target, because a running service would keep its old cursor secret. The check runs
      // before and after the copy, because a service may start in between.
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
  if (compareSchema(migrations.map(({ name: migration }) => String(migration))) !== 'newest')
    throw new OperatorError(
      `the store ${name} does not have the schema of this release: set DATABASE_URL to it and run "migrate" first`,
    );
}

async function checkEmpty(target: WholeStore, name: string): Promise<void> {
  for (const table of tablesOfContent)
    if ((await target.query(`select 1 from ${table} limit 1`)).length > 0)
      throw new OperatorError(`the store ${name} is not empty: nothing was moved`);
}
