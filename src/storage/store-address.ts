import { OperatorError } from '../errors.ts';
import type { Database } from './database.ts';
import { followLinks } from './sqlite/follow-links.ts';

/** Where a store lives: the path of a file, or the address of a server and a database on it. */
export interface StoreAddress {
  readonly engine: Database['engine'];
  readonly location: string;
}

const sqliteScheme = 'sqlite:';
const postgresSchemes = ['postgres://', 'postgresql://'];

/**
 * Reads an address, `sqlite:PATH` or `postgres://…`. Throws OperatorError with one line, which never shows the address
 * and so no password, where it is neither. A file is the one that its path leads to, past symbolic links, so that it
 * has one name only.
 */
export function parseStoreAddress(address: string): StoreAddress {
  if (postgresSchemes.some((scheme) => address.startsWith(scheme)))
    return { engine: 'postgres', location: address };
  const path = address.startsWith(sqliteScheme) ? address.slice(sqliteScheme.length) : '';
  // Each of a store's connections would have a `:memory:` of its own, and a `file:` is an address to SQLite alone.
  if (path === '' || path === ':memory:' || path.startsWith('file:'))
    throw new OperatorError(
      'the database must be sqlite:PATH or postgres://USER:PASSWORD@HOST:PORT/DATABASE',
    );
  return { engine: 'sqlite', location: followLinks(path) };
}
