import { OperatorError } from '../errors.ts';
import type { Database } from './database.ts';
import { openPostgres } from './postgres.ts';
import { openSqlite } from './sqlite.ts';

const sqliteScheme = 'sqlite:';
const postgresSchemes = ['postgres://', 'postgresql://'];

/**
 * Opens the store at an address, `sqlite:PATH` or `postgres://…`, brought to the newest schema. Throws OperatorError
 * with one line, which never shows the address and so no password, where it is neither.
 */
export async function openDatabase(url: string): Promise<Database> {
  if (postgresSchemes.some((scheme) => url.startsWith(scheme))) return openPostgres(url);
  const path = url.startsWith(sqliteScheme) ? url.slice(sqliteScheme.length) : '';
  // Each of a store's connections would have a `:memory:` of its own.
  if (path === '' || path === ':memory:')
    throw new OperatorError(
      'the database must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    );
  return openSqlite(path);
}
