import { OperatorError } from '../errors.ts';
import type { Database } from './database.ts';
import { followLinks } from './sqlite/follow-links.ts';

/** The location of a store: the path of a file, or the address of a server and its database. */
export interface StoreAddress {
  readonly engine: Database['engine'];
  readonly location: string;
}

const sqliteScheme = 'sqlite:';
const postgresSchemes = ['postgres://', 'postgresql://'];

/**
 * Parses an address, `sqlite:PATH` or `postgres://…`. Resolves symbolic links, so that a file has one name only.
 * Throws OperatorError of one line for any other text. It never shows the address, which may have a password.
 */
export function parseStoreAddress(address: string): StoreAddress {
  if (postgresSchemes.some((scheme) => address.startsWith(scheme)))
    return { engine: 'postgres', location: address };
  const path = address.startsWith(sqliteScheme) ? address.slice(sqliteScheme.length) : '';
  // Each connection of a store would have its own `:memory:`, and only SQLite understands a `file:` address.
  if (path === '' || path === ':memory:' || path.startsWith('file:'))
    throw new OperatorError(
      'the database must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    );
  return { engine: 'sqlite', location: followLinks(path) };
}
