import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { keyEnvironmentOf } from '../accounts/api-key.ts';
import type { Clock } from '../clock.ts';
import type { Environment } from '../config.ts';
import { inspectSqlite } from '../storage/sqlite/inspection.ts';
import type { SqliteInspection } from '../storage/sqlite/look.ts';
import { findNameProblem } from '../storage/sqlite/one-name.ts';
import { checkNewestRow, formatSpan } from './clock.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';
import { checkKeys } from './keys.ts';
import { checkOwnership } from './machine.ts';
import { checkSchema } from './schema.ts';

const mebibyte = 2 ** 20;
/** Below it a day of writing, or a checkpoint of the log, may fill the disk. */
const freeBytesMin = 64 * mebibyte;
/** Below it, or below the size of the store, a backup beside it has no room. */
const freeBytesWanted = 1_024 * mebibyte;

/** What an operator may set about the checks of an embedded store. */
export interface SqliteCheckOptions {
  readonly clock: Clock;
  /** In development others on the machine may read the store. */
  readonly environment: Environment;
  /** How long the file may be read. */
  readonly lookMsMax: number;
}

/** What was found of a store. */
export interface StoreCheck {
  readonly findings: readonly Finding[];
  /** Whether a service serves it now; null where that cannot be told. */
  readonly isServed: boolean | null;
}

/** Checks the file of an embedded store, and the folder and the disk that it is on. */
export async function checkSqlite(location: string, options: SqliteCheckOptions): Promise<StoreCheck> {
  const file = resolve(location);
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code !== 'ENOENT') return unknown(cannotOpen(file, found));
    const none = ok('store', `there is no ${file} yet; the first start makes it`);
    return { findings: [none, ...(await checkPlace(file, 0))], isServed: false };
  }
  if (!found.isFile()) return unknown(cannotOpen(file, new Error('it is no file')));
  const { findings, isServed } = await checkContents(file, options);
  const place = await checkPlace(file, found.size);
  const ownership = await checkOwnership(file, dirname(file), options.environment === 'development');
  return { findings: [...findings, ...place, ownership], isServed };
}

function unknown(finding: Finding): StoreCheck {
  return { findings: [finding], isServed: null };
}

async function checkContents(file: string, options: SqliteCheckOptions): Promise<StoreCheck> {
  try {
    const nameProblem = findNameProblem(file);
    if (nameProblem !== null) return unknown(hasOtherName(file, nameProblem));
    const { environment, lookMsMax } = options;
    const told = await inspectSqlite(file, keyEnvironmentOf[environment], lookMsMax);
    if (told !== null) return { findings: judge(file, told, options), isServed: told.isServed };
    const is = `${file} could not be read to its end within ${formatSpan(lookMsMax)}`;
    return unknown(
      warning(
        'store',
        is,
        'check it while nothing serves it: sqlite3 FILE "pragma quick_check"; see whether the disk is well',
      ),
    );
  } catch (error) {
    return unknown(cannotOpen(file, error));
  }
}

function judge(
  file: string,
  { migrations, newestRowMs, foreignKeys, integrity, isServed }: SqliteInspection,
  { clock, environment }: SqliteCheckOptions,
): Finding[] {
  const use = isServed ? 'a service serves it now' : 'no service serves it now';
  const store =
    integrity === 'ok'
      ? ok('store', `${file} is whole, ${use}`)
      : problem(
          'store',
          `${file} is damaged: ${integrity}`,
          'stop the service, keep the file, and restore the last backup',
        );
  return [
    store,
    checkSchema(migrations),
    ...checkNewestRow(newestRowMs, clock()),
    ...checkKeys(foreignKeys, environment),
  ];
}

function cannotOpen(file: string, error: unknown): Finding {
  const todo = 'see that DATABASE_URL names the store, and that this user may read it; else restore a backup';
  return problem('store', `${file} cannot be opened: ${reasonOf(error)}`, todo);
}

function hasOtherName(file: string, name: string): Finding {
  return problem(
    'store',
    `${file} must not be opened: ${name}`,
    'name the store by the path that its service uses',
  );
}

/** Whether a store can be written where it is, and whether there is room. */
async function checkPlace(file: string, size: number): Promise<Finding[]> {
  const folder = await findFolder(dirname(file));
  const places = [folder, ...(size > 0 ? [file, `${file}-wal`] : [])];
  const isClosed = await Promise.all(
    places.map((place) =>
      access(place, constants.W_OK).then(
        () => false,
        ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
      ),
    ),
  );
  const closed = places.filter((_, index) => isClosed[index]);
  const writing =
    closed.length === 0
      ? ok('writing', `${folder} can be written`)
      : problem(
          'writing',
          `this user may not write to ${closed.join(', ')}`,
          'run as the user of the service, or give it the folder: chown',
        );
  return [writing, await checkRoom(folder, size)];
}

/** The folder itself or, where it is yet to be made, the nearest above it that is there. */
async function findFolder(folder: string): Promise<string> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  return isThere || folder === dirname(folder) ? folder : findFolder(dirname(folder));
}

async function checkRoom(folder: string, size: number): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const is = `${formatBytes(free)} are free for a store of ${formatBytes(size)}`;
  if (free < freeBytesMin) return problem('disk', is, 'make room: without it no animal can be added');
  if (free < Math.max(size, freeBytesWanted))
    return warning('disk', is, 'make room: a backup needs as much as the store');
  return ok('disk', is);
}

function formatBytes(bytes: number): string {
  const mebibytes = bytes / mebibyte;
  return mebibytes < 1_024 ? `${mebibytes.toFixed(1)} MiB` : `${(mebibytes / 1_024).toFixed(1)} GiB`;
}
