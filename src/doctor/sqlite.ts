import { constants, existsSync } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Environment } from '../config.ts';
import { formatBytes } from '../observability/safe-text.ts';
import { type Finding, ok, problem, warnUnless } from './finding.ts';
import { cannotOpen, inspectSqlite, type StoreCheck } from './inspect-sqlite.ts';
import { checkOwnership } from './machine.ts';

/** With less free space, a day of writes or a checkpoint may fill the disk. */
const freeBytesMin = 64 * 2 ** 20;
/** With less free space than this or than the size of the store, the doctor warns that a backup may not fit. */
const freeBytesWanted = 1_024 * 2 ** 20;

/** Checks the file of a SQLite store, its folder and its disk. */
export async function checkSqlite(
  location: string,
  environment: Environment,
  clock: Clock,
): Promise<StoreCheck> {
  const file = resolve(location);
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code !== 'ENOENT') return cannotOpen(file, found);
    const none = ok('store', `there is no ${file} yet; the first start creates it`);
    return { findings: [none, ...(await checkPlace(file, 0))], isServed: false };
  }
  if (!found.isFile()) return cannotOpen(file, 'it is not a file');
  const { findings, isServed } = await inspectSqlite(file, environment, clock());
  const place = await checkPlace(file, found.size);
  const ownership = await checkOwnership(file, environment === 'development');
  return { findings: [...findings, ...place, ownership], isServed };
}

/** Checks that this user can write the store, and that the disk has free space. */
async function checkPlace(file: string, size: number): Promise<Finding[]> {
  const folder = findFolder(dirname(file));
  const places = [folder, ...(size > 0 ? [file, `${file}-wal`] : [])];
  const closed = (await Promise.all(places.map(listClosed))).flat();
  const todo =
    'run the doctor as the user of the service, or make this user the owner of the folder with chown';
  const writing =
    closed.length === 0
      ? ok('writing', `${folder} can be written`)
      : problem('writing', `this user may not write to ${closed.join(', ')}`, todo);
  return [writing, await checkRoom(folder, size)];
}

/** Returns the place if it exists and this user may not write to it, otherwise nothing. */
async function listClosed(place: string): Promise<string[]> {
  const refusal: unknown = await access(place, constants.W_OK).catch((error) => error);
  return refusal instanceof Error && 'code' in refusal && refusal.code !== 'ENOENT' ? [place] : [];
}

/** Returns the folder or, if it does not exist, its nearest existing parent. */
function findFolder(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : findFolder(dirname(folder));
}

async function checkRoom(folder: string, size: number): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const is = `${formatBytes(free)} are free for a store of ${formatBytes(size)}`;
  if (free < freeBytesMin)
    return problem('disk', is, 'free disk space: on a full disk, no animal can be added');
  const todo = 'free disk space: a backup needs as much space as the store';
  return warnUnless(free >= Math.max(size, freeBytesWanted), 'disk', is, todo);
}
