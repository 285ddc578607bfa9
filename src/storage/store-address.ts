import { OperatorError } from '../errors.ts';
import { isPostgresUrl } from '../setting-values.ts';
import type { Database } from './database.ts';
import { followLinks } from './sqlite/follow-links.ts';

/** Engine and location of a store. `location` is the path of a SQLite file, or the URL of a PostgreSQL database. */
export interface StoreAddress {
  readonly engine: Database['engine'];
  readonly location: string;
}

const sqliteScheme = 'sqlite:';

/**
 * Parses the address of a store: `sqlite:PATH` or `postgres://…`. Resolves symbolic links, so that one file always
 * has the same path. Throws OperatorError of one line for any other text. The error does not contain the address,
 * which may include a password.
 */
export function parseStoreAddress(address: string): StoreAddress {
  if (isPostgresUrl(address)) return { engine: 'postgres', location: address };
  const path = address.startsWith(sqliteScheme) ? address.slice(sqliteScheme.length) : '';
  // With `:memory:`, each connection would have its own database. Only SQLite understands a `file:` URL; other code
  // here needs a path.
  if (path === '' || path === ':memory:' || path.startsWith('file:'))
    throw new OperatorError(
      'the database must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE, with a percent-encoded password',
    );
  return { engine: 'sqlite', location: followLinks(path) };
}
