import { OperatorError } from '../../errors.ts';
import { newestSchema } from '../migrations/migrate.ts';
import { openDatabase } from '../open-database.ts';
import { toOpeningError } from '../opening-error.ts';
import { type CopiedRows, copyTables, type OnCopied } from './copy-tables.ts';
import { nameStore, readStore, writeStore } from './open-whole-store.ts';
import type { WholeStore } from './whole-store.ts';

/** What an empty store has none of; the rest of it (a secret, old counts) gives way to what comes. */
const tablesOfContent = ['pets', 'accounts', 'api_keys'] as const;

/**
 * Copies a whole store to an empty one, of the same engine or another, and gives how many rows each table had: rows
 * with their ids, and the ids given up to now, so that none is given again. The source is read as it was at one
 * moment, so what is written to it afterwards is not copied; nothing in it is changed. All is written in one
 * transaction, which is committed only after every row has been read back and compared; until then the target stays
 * as it was. Throws OperatorError where the two are one store, the source has not the newest schema, or the target
 * is not empty or is served; AppError `unavailable` where a database fails.
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
      // A service would go on with the secret of the cursors that it has read; one may start meanwhile, too.
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
      `the store ${name} has not the schema of this release: run "migrate" with it as DATABASE_URL first`,
    );
}

async function checkEmpty(target: WholeStore, name: string): Promise<void> {
  for (const table of tablesOfContent)
    if ((await target.query(`select 1 from ${table} limit 1`)).length > 0)
      throw new OperatorError(`the store ${name} is not empty: nothing was moved`);
}
