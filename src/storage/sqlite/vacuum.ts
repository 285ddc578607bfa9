import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { OperatorError, reasonOf } from '../../errors.ts';
import { requireOneName } from './claim-serving.ts';
import { lockWaitMsMax, openConnection } from './connection.ts';

/** Free disk space that a vacuum needs, in sizes of the content: for a temporary file, and for the write-ahead log. */
const copies = 2;

/**
 * Writes the store again without unused pages, which gives them back to the disk. Returns the size of the file before
 * and after in bytes. Other connections can still read; their writes wait. Blocks the thread. Throws OperatorError,
 * with the store unchanged, if the disk has too little space or the store cannot be written.
 */
export async function vacuumSqlite(
  path: string,
): Promise<{ readonly before: number; readonly after: number }> {
  await requireOneName(path);
  try {
    using raw = openConnection(path, lockWaitMsMax).raw;
    const { bytes: before, freeBytes } = readSizes(raw);
    requireSpace(path, (before - freeBytes) * copies);
    raw.exec('vacuum; pragma wal_checkpoint(truncate)');
    return { before, after: readSizes(raw).bytes };
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`the database ${path} cannot be vacuumed: ${reasonOf(error)}`, { cause: error });
  }
}

function requireSpace(path: string, needed: number): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  if (bavail * bsize >= needed) return;
  const mebibytes = Math.ceil(needed / 2 ** 20);
  throw new OperatorError(
    `a vacuum needs ${mebibytes} MiB of free disk space beside ${path}: nothing was changed`,
  );
}

/** Returns the size of a store, and of its pages without content, in bytes. */
export function readSizes(store: DatabaseSync): { readonly bytes: number; readonly freeBytes: number } {
  const read = (name: string) => Number(store.prepare(`pragma ${name}`).get()?.[name]);
  const pageBytes = read('page_size');
  return { bytes: read('page_count') * pageBytes, freeBytes: read('freelist_count') * pageBytes };
}
