import { openSync } from 'node:fs';
import { tryLock, unlock } from 'fs-native-extensions';

/**
 * The locked byte: beyond the end of the largest database (2^48 bytes), and apart from the bytes that SQLite locks
 * (510 from 2^30 on). The lock belongs to the file, not to its name: it holds for every hard link and mount, and
 * after a rename. It ends with the process. On Linux it is an open file description lock.
 */
const lockedByte = 2 ** 50;

/**
 * Locks the file of a store for its service and returns the function that unlocks it. Null if another process has the
 * lock. Throws the system's error if the file cannot be opened for writing or locked.
 */
export function lockFile(path: string): (() => void) | null {
  const descriptor = openForGood(path, 'r+');
  return tryLock(descriptor, lockedByte, 1) ? () => unlock(descriptor, lockedByte, 1) : null;
}

/** Whether a service has the lock. The check takes the lock for a moment; a service that starts then tries again. */
export function isFileLocked(path: string): boolean {
  const descriptor = openForGood(path, 'r');
  if (!tryLock(descriptor, lockedByte, 1, { shared: true })) return true;
  unlock(descriptor, lockedByte, 1);
  return false;
}

/**
 * Opens a file until the process ends. SQLite uses POSIX locks. When a process closes any descriptor of a file, the
 * system drops all its locks on that file (SQLite, How To Corrupt, section 2.2).
 */
function openForGood(path: string, flags: string): number {
  return openSync(path, flags);
}
