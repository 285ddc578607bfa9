import { openSync } from 'node:fs';
import { tryLock, unlock } from 'fs-native-extensions';

/**
 * The byte that is locked: beyond the end of the largest database (2^48 bytes), and none of those that SQLite locks
 * itself (510 from 2^30 on). The lock belongs to the file and not to its name, so it holds for every hard link and
 * mount, and after a rename; it ends with the process. On Linux it is an open file description lock.
 */
const lockedByte = 2 ** 50;

/**
 * Locks the file of a store for the service that serves it, and gives what unlocks it; null when another process has
 * the lock. Throws what the system says when the file cannot be opened for writing, or cannot be locked.
 */
export function lockFile(path: string): (() => void) | null {
  const descriptor = openForGood(path, 'r+');
  return tryLock(descriptor, lockedByte, 1) ? () => unlock(descriptor, lockedByte, 1) : null;
}

/** Whether a service has the lock. A service that starts at this moment finds the lock taken, and tries again. */
export function isFileLocked(path: string): boolean {
  const descriptor = openForGood(path, 'r');
  if (!tryLock(descriptor, lockedByte, 1, { shared: true })) return true;
  unlock(descriptor, lockedByte, 1);
  return false;
}

/**
 * Opens a file until the process ends. SQLite's locks are POSIX locks: the system drops all that a process has on a file
 * as soon as the process closes any descriptor of it (SQLite, How To Corrupt, section 2.2).
 */
function openForGood(path: string, flags: string): number {
  return openSync(path, flags);
}
