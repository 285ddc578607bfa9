import { randomUUID } from 'node:crypto';
import { closeSync, openSync, rmSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { tryLock } from 'fs-native-extensions';
import { reasonOf } from '../../errors.ts';
import { type RemoteFileSystem, remoteFileSystemNames, remoteFileSystems } from '../../file-systems.ts';

let allowed: RemoteFileSystem | null = null;

/** Allows stores on one refused type of file system. Applies to the whole process, because a move opens two stores. */
export function allowFileSystem(name: RemoteFileSystem | null): void {
  allowed = name;
}

/**
 * Returns the reason why other processes may not see the locks of a store at this path, or null. The store need not exist.
 * On systems other than Linux, knows no types of file systems.
 */
export async function findFileSystemProblem(path: string): Promise<string | null> {
  const types = process.platform === 'linux' ? await readTypes(path) : [];
  const refused = remoteFileSystemNames.find(
    (name) => name !== allowed && remoteFileSystems[name].some((type) => types.includes(type)),
  );
  if (refused === undefined) return findLockProblem(path);
  return `it is on a file system of the type ${refused}, whose locks may not reach other processes: use a local disk (ALLOW_FILE_SYSTEM=${refused} insists)`;
}

/** Returns the types of the file systems of a file, if it exists, and of its folder or nearest parent that exists. */
async function readTypes(path: string): Promise<number[]> {
  const types: number[] = [];
  for (let place = path; ; place = dirname(place)) {
    const found = await statfs(place).catch(() => null);
    if (found !== null) types.push(found.type);
    if ((found !== null && place !== path) || place === dirname(place)) return types;
  }
}

/**
 * Locks a scratch file beside the store twice, which must fail. The lock belongs to the open file and not to the process,
 * so two open files of one process stand for those of two processes. The store itself cannot be used: to close it would
 * drop SQLite's locks.
 */
function findLockProblem(path: string): string | null {
  const scratch = `${path}-probe-${randomUUID()}`;
  const descriptors: number[] = [];
  try {
    descriptors.push(openSync(scratch, 'wx', 0o600), openSync(scratch, 'r+'));
  } catch {
    // The folder is missing or cannot be written. If that matters, opening the store says so.
    return null;
  } finally {
    rmSync(scratch, { force: true });
  }
  try {
    const [first, second] = descriptors.map((descriptor) => tryLock(descriptor, 0, 1));
    return first && !second ? null : 'locks on files do not work there: use a local disk';
  } catch (error) {
    return `files cannot be locked there (${reasonOf(error)}): use a local disk`;
  } finally {
    descriptors.forEach(closeSync);
  }
}
