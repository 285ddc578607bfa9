import { existsSync, openSync, statSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { tryLock, unlock } from 'fs-native-extensions';
import { secondMs } from '../../clock.ts';
import { OperatorError } from '../../errors.ts';
import { makeStoreFile } from '../durable-files.ts';
import { parseStoreAddress } from '../store-address.ts';
import { toOpeningError } from '../store-errors.ts';
import { findFileSystemProblem } from './file-system.ts';

/** Time in ms for which to retry the lock on the file. A command that checks the lock takes it for a moment. */
const lockMsMax = secondMs;
/** Time in ms that a service may take from its lock on the file until its store is open, on a busy machine some seconds. */
export const startMsMax = 10 * secondMs;
const retryAfterMs = 20;

/**
 * Offset of the locked byte, beyond the end of the largest database (2^48 bytes) and the bytes that SQLite locks. The
 * lock belongs to the file, so it holds under every name of it. The system releases it when the process ends.
 *
 * The locked files are never closed: if a process closes any descriptor of a file, the system drops all POSIX locks of
 * the process on it, such as those of SQLite (How To Corrupt, section 2.2).
 */
const lockedByte = 2 ** 50;

const served = new Set<string>();

/**
 * Claims a SQLite store for one service, restore, migration or move by a lock on its file, which is created if necessary.
 * Two services would together allow twice the rate limits. Does nothing on PostgreSQL. Returns the function that releases
 * the claim. Throws OperatorError if another process has it, or if the file cannot be used.
 */
export async function claimServing(databaseUrl: string): Promise<() => void> {
  const { engine, location } = parseStoreAddress(databaseUrl);
  if (engine !== 'sqlite') return () => undefined;
  try {
    await requireNone(location, findFileSystemProblem);
    await makeStoreFile(location);
    const release = await claim(
      location,
      `another service is serving the database ${location}, or a command migrates or restores it: several services need PostgreSQL`,
    );
    served.add(location);
    return () => {
      served.delete(location);
      release();
    };
  } catch (error) {
    throw toOpeningError(location, error);
  }
}

/** Like `claimServing`, for a migration. Does nothing if this process serves the store. */
export async function claimMigrating(path: string): Promise<() => void> {
  if (served.has(path)) return () => undefined;
  return claim(
    path,
    `the database ${path} has the schema of an older release, and a service or another migration uses it: stop that service, or run this command again after the migration`,
  );
}

async function claim(path: string, refusal: string): Promise<() => void> {
  const descriptor = openSync(path, 'r+');
  const startedMs = performance.now();
  while (!tryLock(descriptor, lockedByte, 1)) {
    const waitedMs = performance.now() - startedMs;
    if (waitedMs >= lockMsMax && hasLog(path)) throw new OperatorError(refusal);
    if (waitedMs >= startMsMax)
      throw new OperatorError(`another service is serving the database ${path} under another name`);
    await setTimeout(retryAfterMs);
  }
  return () => unlock(descriptor, lockedByte, 1);
}

/** Returns true if a service serves the file, under this or another name. The check takes the lock for a moment. */
export function isServed(path: string): boolean {
  return existsSync(path) && isLocked(openSync(path, 'r'));
}

function isLocked(descriptor: number): boolean {
  if (!tryLock(descriptor, lockedByte, 1, { shared: true })) return true;
  unlock(descriptor, lockedByte, 1);
  return false;
}

/**
 * Waits until `isReady`, while another process has the lock of an existing file, for at most the time of a start. Returns
 * false if that time was too short. Does nothing if this process serves the store.
 */
export async function untilStarted(
  path: string,
  isReady: () => boolean | Promise<boolean>,
): Promise<boolean> {
  if (served.has(path)) return true;
  const lastAtMs = performance.now() + startMsMax;
  let descriptor: number | undefined;
  while (!(await isReady())) {
    descriptor ??= openSync(path, 'r');
    if (!isLocked(descriptor)) return true;
    if (performance.now() >= lastAtMs) return false;
    await setTimeout(retryAfterMs);
  }
  return true;
}

/**
 * Returns the reason why it is unsafe to open a store under this path, or null. SQLite keeps the newest commits in a
 * `-wal` beside the path under which a store was opened. A process that uses a second name of the file (a hard link, a
 * mount, a rename during use) does not see it, and two writers overwrite each other's pages.
 */
export async function findNameProblem(path: string): Promise<string | null> {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return null;
  if (!file.isFile()) return 'it is not a regular file';
  if (file.nlink > 1)
    return `the file has ${file.nlink} names (hard links), and a store may have only one: copy it, or remove the others`;
  // A service that starts has the lock before its log, and one that stops removes its log before the lock.
  const isHere = await untilStarted(path, () => hasLog(path));
  return isHere ? null : 'a service serves the same file under another name';
}

/** Throws OperatorError if it is unsafe to open a store under this path, or if the file cannot be checked. */
export async function requireSafePlace(path: string): Promise<void> {
  await requireNone(path, findFileSystemProblem);
  await requireOneName(path);
}

/** Like `requireSafePlace`, for a file that is only read, such as a backup. It may be on any file system. */
export const requireOneName = (path: string) => requireNone(path, findNameProblem);

async function requireNone(path: string, find: (path: string) => Promise<string | null>): Promise<void> {
  try {
    const problem = await find(path);
    if (problem !== null) throw new Error(problem);
  } catch (error) {
    throw toOpeningError(path, error);
  }
}

/** A service keeps a `-wal` beside the path under which it has opened the store. */
function hasLog(path: string): boolean {
  return existsSync(`${path}-wal`);
}
