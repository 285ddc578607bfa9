import { readlinkSync, realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { OperatorError, reasonOf } from '../errors.ts';
import { isPostgresUrl } from '../postgres-address.ts';
import { parseDatabaseUrl } from '../setting-values.ts';
import type { Engine } from './dialect.ts';

/** Engine and location of a store. `location` is the path of a SQLite file, or the URL of a PostgreSQL database. */
export interface StoreAddress {
  readonly engine: Engine;
  readonly location: string;
}

const sqliteScheme = 'sqlite:';

/**
 * Parses the address of a store: `sqlite:PATH` or `postgres://…`. Resolves symbolic links, so that one file always
 * has the same path. Throws OperatorError of one line without the address, which may include a password.
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

/** Maximum number of links that Linux follows. */
const linksMax = 40;

/** Resolves a symbolic link at a path, because SQLite keeps its own files beside the target, which need not exist. */
function followLinks(path: string): string {
  let place = path;
  try {
    for (let followed = 0; followed < linksMax; followed += 1) {
      place = resolve(realpathSync(dirname(place)), readlinkSync(place));
      place = join(realpathSync(dirname(place)), basename(place));
    }
  } catch {
    // The place is no link, or its folder does not exist. Opening it later reports the reason.
  }
  return place;
}

/** What the name of a SQLite store gets for the copy of the backup that a restore makes and deletes. */
export const restoringEnding = '-restoring';

/** Throws OperatorError if a file belongs to a SQLite store, under whatever name, or has the name of one that may come. */
export async function requireNotStore(file: string, databaseUrl: string): Promise<void> {
  const { engine, location } = parseStoreAddress(databaseUrl);
  if (engine !== 'sqlite') return;
  for (const ending of ['', '-wal', '-shm', '-journal', restoringEnding]) {
    const own = location + ending;
    if (resolve(file) === resolve(own) || (await isSameFile(file, own)))
      throw new OperatorError(`${file} belongs to the store itself: name another file`);
  }
}

async function isSameFile(file: string, other: string): Promise<boolean> {
  const [one, another] = await Promise.all([file, other].map((path) => stat(path).catch(() => null)));
  return one != null && one.ino === another?.ino && one.dev === another.dev;
}
