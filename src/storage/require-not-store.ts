import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { OperatorError } from '../errors.ts';
import { parseStoreAddress } from './store-address.ts';

/**
 * Throws OperatorError if a file belongs to the SQLite store at an address, under whatever name. The files beside the
 * store come and go, so their names count as well.
 */
export async function requireNotStore(file: string, databaseUrl: string): Promise<void> {
  const { engine, location } = parseStoreAddress(databaseUrl);
  if (engine !== 'sqlite') return;
  for (const ending of ['', '-wal', '-shm', '-journal']) {
    const own = location + ending;
    if (resolve(file) === resolve(own) || (await isSameFile(file, own)))
      throw new OperatorError(`${file} belongs to the store itself: name another file`);
  }
}

async function isSameFile(file: string, other: string): Promise<boolean> {
  const [one, another] = await Promise.all([file, other].map((path) => stat(path).catch(() => null)));
  return one != null && one.ino === another?.ino && one.dev === another.dev;
}
