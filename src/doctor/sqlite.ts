import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants, existsSync, statSync } from 'node:fs';
import { access, open, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { serialize } from 'node:v8';
import { type Clock, secondMs } from '../clock.ts';
import { reasonOf } from '../errors.ts';
import { formatBytes } from '../format.ts';
import { findNameProblem, isServed } from '../storage/sqlite/claim-serving.ts';
import { findFileSystemProblem } from '../storage/sqlite/file-system.ts';
import { readSizes } from '../storage/sqlite/vacuum.ts';
import { howToBegin } from '../storage/stored-migrations.ts';
import { type Finding, ok, problem, warning, warnUnless } from './finding.ts';
import { checkOwnership } from './machine.ts';
import { type ContentSettings, checkContent, formatSpan, type Query } from './store.ts';

/** The result of checking a store. */
export interface StoreCheck {
  readonly findings: readonly Finding[];
  /** True if a service serves the store now (claim-serving.ts). Null if unknown. */
  readonly isServed: boolean | null;
}

/** With less free space, a day of writes or a checkpoint may fill the disk. */
const freeBytesMin = 64 * 2 ** 20;
/** With less free space than this or than the size of the store, the doctor warns that a backup may not fit. */
const freeBytesWanted = 1_024 * 2 ** 20;
/** Beyond both, the doctor suggests to give unused pages back. The service uses them for new rows. */
const unusedShareMax = 0.25;
const unusedBytesMax = 64 * 2 ** 20;

/** Checks the file of a SQLite store, its folder and its disk. */
export async function checkSqlite(
  location: string,
  { environment, requireStore, webhookSecretKeys }: ContentSettings,
  clock: Clock,
): Promise<StoreCheck> {
  const file = resolve(location);
  const placeProblem = await findFileSystemProblem(file);
  if (placeProblem !== null) {
    const todo = 'move the store to a local disk';
    return unknown(problem('store', `${file} is not safe to open: ${placeProblem}`, todo));
  }
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code !== 'ENOENT') return cannotOpen(file, found);
    const none = requireStore
      ? problem('store', `there is no ${file}, and REQUIRE_STORE is true`, howToBegin)
      : ok('store', `there is no ${file} yet; the first start creates it`);
    const place = await checkPlace(file, 0);
    return { findings: [none, ...place], isServed: false };
  }
  if (!found.isFile()) return cannotOpen(file, 'it is not a file');
  const settings = { environment, requireStore, webhookSecretKeys };
  const { findings, isServed } = await inspectSqlite(file, settings, clock);
  const place = await checkPlace(file, found.size);
  const ownership = await checkOwnership(file, environment === 'development');
  return { findings: [...findings, ...place, ownership], isServed };
}

const busyTimeoutMs = 2_000;

/** Reads its task from standard input, because every user of the machine can see the arguments of a process. */
const program = `
  import { buffer } from 'node:stream/consumers';
  import { deserialize } from 'node:v8';
  import { lookAtSqlite } from ${JSON.stringify(import.meta.url)};
  const { file, settings, aheadMs } = deserialize(await buffer(process.stdin));
  const report = await lookAtSqlite(file, settings, () => Date.now() + aheadMs)
    .catch(({ message }) => ({ failure: message }));
  process.stdout.write(JSON.stringify(report));`;

/**
 * Checks a store's file in a child process, because only a kill, after `msMax`, stops SQLite in time. The default leaves the
 * other checks time within the 30 s of the doctor.
 */
export async function inspectSqlite(
  file: string,
  settings: ContentSettings,
  clock: Clock,
  msMax = 20 * secondMs,
): Promise<StoreCheck> {
  // The process has no access to `clock`, so it gets the difference to the clock of the machine.
  const task = serialize({ file, settings, aheadMs: clock() - Date.now() });
  const args = ['--input-type=module', '--eval', program];
  const limits = { timeout: msMax, killSignal: 'SIGKILL' } as const;
  try {
    const nameProblem = await findNameProblem(file);
    if (nameProblem !== null) {
      const todo = 'name the store by the path that its service uses';
      return unknown(problem('store', `${file} is not safe to open: ${nameProblem}`, todo));
    }
    const looking = promisify(execFile)(process.execPath, args, limits);
    // A process that ends before it has read its task fails anyway.
    looking.child.stdin?.on('error', () => undefined).end(task);
    const { stdout } = await looking;
    const report: StoreCheck | { readonly failure: string } = JSON.parse(stdout);
    return 'failure' in report ? cannotOpen(file, report.failure) : report;
  } catch (error) {
    if (!(error instanceof Error && 'killed' in error)) return cannotOpen(file, error);
    if (!error.killed) return cannotOpen(file, 'it cannot be read');
    const is = `${file} could not be read to its end within ${formatSpan(msMax)}`;
    const todo =
      'stop the service and check the file: sqlite3 FILE "pragma quick_check"; then check the disk';
    return unknown(warning('store', is, todo));
  }
}

function unknown(finding: Finding): StoreCheck {
  return { findings: [finding], isServed: null };
}

function cannotOpen(file: string, reason: unknown): StoreCheck {
  const todo =
    'check that DATABASE_URL names the store and that this user may read it; else restore a backup';
  return unknown(problem('store', `${file} cannot be opened: ${reasonOf(reason)}`, todo));
}

/**
 * Reads an existing store file completely and checks it. Blocks the thread. Throws SQLite's error. While the file changes again
 * and again, it does not end: the time limit of `inspectSqlite` ends its process.
 */
export async function lookAtSqlite(path: string, settings: ContentSettings, clock: Clock) {
  for (;;) {
    const before = identifyContent(path);
    const report = inspect(path, settings, clock, before !== null);
    await report.catch(() => undefined);
    // If the file changes while it is read, the result mixes two states. Then the file is read again.
    if (before === null || identifyContent(path) === before) return report;
  }
}

/** Returns null if a `-wal` beside the file has a part of the content. */
function identifyContent(path: string): string | null {
  if (existsSync(`${path}-wal`)) return null;
  const { ino, size, mtimeNs } = statSync(path, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

/** A file without `-wal` is complete. It is opened as immutable, so that SQLite leaves no files beside it. */
async function inspect(path: string, settings: ContentSettings, clock: Clock, isComplete: boolean) {
  const address = pathToFileURL(path);
  if (isComplete) address.searchParams.set('immutable', '1');
  const store = new DatabaseSync(address, { readOnly: true, timeout: busyTimeoutMs });
  const query: Query = async (sql, values = []) => store.prepare(sql).all(...values);
  try {
    const content = await checkContent('sqlite', query, settings, clock);
    // Reads every page, but does not compare the indexes with their tables, which `integrity_check` takes much longer for.
    const [integrity] = (await query('pragma quick_check(1)')).flatMap(Object.values);
    const isInUse = isServed(path);
    const state = describeState(path, integrity, isInUse);
    const size = checkSize(store);
    return { findings: [state, size, ...content], isServed: isInUse };
  } finally {
    store.close();
  }
}

function describeState(path: string, integrity: unknown, isInUse: boolean): Finding {
  if (integrity !== 'ok') {
    const todo = 'stop the service, keep the file, and restore the last backup';
    return problem('store', `${path} is damaged: ${integrity}`, todo);
  }
  const served = isInUse ? 'a service serves it now' : 'no service serves it now';
  return ok('store', `${path} is intact, ${served}`);
}

function checkSize(store: DatabaseSync): Finding {
  const { bytes, freeBytes } = readSizes(store);
  const unused = formatBytes(freeBytes);
  const is = `the store takes ${formatBytes(bytes)}, of which ${unused} are unused`;
  const isFine = freeBytes < Math.max(bytes * unusedShareMax, unusedBytesMax);
  return warnUnless(isFine, 'size', is, `"animal-store vacuum" gives ${unused} back`);
}

/** Checks that this user can write the store, and that the disk has free space. */
async function checkPlace(file: string, size: number): Promise<Finding[]> {
  const folder = findFolder(dirname(file));
  const faults = await tryFolder(folder);
  if (size > 0) {
    faults.push(...(await tryFile(file)));
    faults.push(...(await tryFile(`${file}-wal`)));
  }
  const writing = describeWriting(folder, faults);
  const room = await checkRoom(folder, size);
  return [writing, room];
}

interface WritingFault {
  readonly place: string;
  readonly code: string;
}

function describeWriting(folder: string, faults: readonly WritingFault[]): Finding {
  if (faults.length === 0) return ok('writing', `${folder} can be written`);
  const places = faults.map(({ place }) => place).join(', ');
  if (faults.every(({ code }) => ['EACCES', 'EPERM'].includes(code))) {
    const todo =
      'run the doctor as the user of the service, or make this user the owner of the folder with chown';
    return problem('writing', `this user may not write to ${places}`, todo);
  }
  const todo = 'check the disk and how it is mounted';
  return problem('writing', `${places} cannot be written (${faults[0]?.code})`, todo);
}

/** Creates a scratch file. After a fault of the disk, Linux may refuse it although the rights would allow it. */
async function tryFolder(folder: string): Promise<WritingFault[]> {
  const scratch = join(folder, `doctor-probe-${randomUUID()}`);
  return listFault(folder, async () => {
    const created = await open(scratch, 'wx', 0o600);
    await created.close();
    await rm(scratch);
  });
}

/** Does not open the file: to close it would drop SQLite's locks of this process. */
const tryFile = (file: string) => listFault(file, () => access(file, constants.W_OK));

/** Returns the place and the reason if an attempt to write to it fails. A place that does not exist is no fault. */
async function listFault(place: string, attempt: () => Promise<void>): Promise<WritingFault[]> {
  const error: unknown = await attempt().catch((caught) => caught);
  const isFault = error instanceof Error && 'code' in error && error.code !== 'ENOENT';
  return isFault ? [{ place, code: String(error.code) }] : [];
}

/** Returns the folder or, if it does not exist, its nearest existing parent. */
function findFolder(folder: string): string {
  const parent = dirname(folder);
  const isRoot = parent === folder;
  if (isRoot || existsSync(folder)) return folder;
  return findFolder(parent);
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
