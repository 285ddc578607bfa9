import { constants, existsSync } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { keyEnvironmentOf } from '../accounts/api-key.ts';
import { type Clock, secondMs } from '../clock.ts';
import type { Environment } from '../config.ts';
import { reasonOf } from '../errors.ts';
import { formatBytes } from '../observability/safe-text.ts';
import { findNameProblem } from '../storage/sqlite/claim-serving.ts';
import { type Finding, ok, problem, warning, warnUnless } from './finding.ts';
import { inspectSqlite, type SqliteInspection } from './inspect-sqlite.ts';
import { checkOwnership } from './machine.ts';
import { checkContent, formatSpan } from './store.ts';

const mebibyte = 2 ** 20;
/** With less free space, a day of writes or a checkpoint may fill the disk. */
const freeBytesMin = 64 * mebibyte;
/** With less free space than this or than the size of the store, the doctor warns that a backup may not fit. */
const freeBytesWanted = 1_024 * mebibyte;

/** The share of unused pages beyond which the doctor suggests to give them back. The service uses them for new rows. */
const unusedShareMax = 0.25;

/** Time in ms after which the check stops reading the file. */
const lookMsMax = 20 * secondMs;

/** The result of checking a store. */
export interface StoreCheck {
  readonly findings: readonly Finding[];
  /** True if a service serves the store now. Null if unknown. */
  readonly isServed: boolean | null;
}

/** Checks the file of a SQLite store, its folder and its disk. */
export async function checkSqlite(
  location: string,
  environment: Environment,
  clock: Clock,
): Promise<StoreCheck> {
  const file = resolve(location);
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code !== 'ENOENT') return unknown(cannotOpen(file, found));
    const none = ok('store', `there is no ${file} yet; the first start creates it`);
    return { findings: [none, ...(await checkPlace(file, 0))], isServed: false };
  }
  if (!found.isFile()) return unknown(cannotOpen(file, new Error('it is not a file')));
  const { findings, isServed } = await checkFile(file, environment, clock);
  const place = await checkPlace(file, found.size);
  const ownership = await checkOwnership(file, environment === 'development');
  return { findings: [...findings, ...place, ownership], isServed };
}

function unknown(finding: Finding): StoreCheck {
  return { findings: [finding], isServed: null };
}

function cannotOpen(file: string, error: unknown): Finding {
  const todo =
    'check that DATABASE_URL names the store and that this user may read it; else restore a backup';
  return problem('store', `${file} cannot be opened: ${reasonOf(error)}`, todo);
}

async function checkFile(file: string, environment: Environment, clock: Clock): Promise<StoreCheck> {
  let report: SqliteInspection | null;
  try {
    const nameProblem = findNameProblem(file);
    if (nameProblem !== null) {
      const todo = 'name the store by the path that its service uses';
      return unknown(problem('store', `${file} is not safe to open: ${nameProblem}`, todo));
    }
    report = await inspectSqlite(file, keyEnvironmentOf[environment], lookMsMax);
  } catch (error) {
    return unknown(cannotOpen(file, error));
  }
  if (report === null) {
    const is = `${file} could not be read to its end within ${formatSpan(lookMsMax)}`;
    const check = 'stop the service and check the file: sqlite3 FILE "pragma quick_check"';
    return unknown(warning('store', is, `${check}; then check the disk`));
  }
  const { integrity, isServed, bytes, freeBytes } = report;
  const todo = 'stop the service, keep the file, and restore the last backup';
  const store =
    integrity === 'ok'
      ? ok('store', `${file} is intact, ${isServed ? 'a' : 'no'} service serves it now`)
      : problem('store', `${file} is damaged: ${integrity}`, todo);
  const size = warnUnless(
    freeBytes < Math.max(bytes * unusedShareMax, freeBytesMin),
    'size',
    `the store takes ${formatBytes(bytes)}, of which ${formatBytes(freeBytes)} are unused`,
    `"animal-store vacuum" gives ${formatBytes(freeBytes)} back`,
  );
  return { findings: [store, size, ...checkContent(report, environment, clock())], isServed };
}

/** Checks that this user can write the store, and that the disk has free space. */
async function checkPlace(file: string, size: number): Promise<Finding[]> {
  const folder = findFolder(dirname(file));
  const places = [folder, ...(size > 0 ? [file, `${file}-wal`] : [])];
  const areClosed = await Promise.all(places.map(isClosed));
  const closed = places.filter((_, index) => areClosed[index]);
  const todo =
    'run the doctor as the user of the service, or make this user the owner of the folder with chown';
  return [
    closed.length === 0
      ? ok('writing', `${folder} can be written`)
      : problem('writing', `this user may not write to ${closed.join(', ')}`, todo),
    await checkRoom(folder, size),
  ];
}

async function isClosed(place: string): Promise<boolean> {
  return access(place, constants.W_OK).then(
    () => false,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  );
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
