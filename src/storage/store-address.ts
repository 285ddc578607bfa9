import { OperatorError, reasonOf } from '../errors.ts';
import { isPostgresUrl } from '../postgres-address.ts';
import { parseDatabaseUrl } from '../setting-values.ts';
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
  try {
    parseDatabaseUrl(address);
  } catch (error) {
    throw new OperatorError(`the database must be ${reasonOf(error)}`);
  }
  if (isPostgresUrl(address)) return { engine: 'postgres', location: address };
  return { engine: 'sqlite', location: followLinks(address.slice(sqliteScheme.length)) };
}
