import { openSync } from 'node:fs';
import { tryLock, unlock } from 'fs-native-extensions';

/**
 * Offset of the locked byte. It is beyond the end of the largest database (2^48 bytes). It is also outside the 510
 * bytes from 2^30 on, which SQLite locks.
 *
 * The lock belongs to the file, not to its name. It applies to every hard link and mount of the file, and after a
 * rename. The system releases it when the process ends. On Linux it is an open file description lock.
 */
const lockedByte = 2 ** 50;

/**
 * Locks the file of a store for its service and returns the function that unlocks it. Returns null if another process
 * has the lock. Throws the system's error if the file cannot be opened for writing or locked.
 */
export function lockFile(path: string): (() => void) | null {
  const descriptor = openForGood(path, 'r+');
  return tryLock(descriptor, lockedByte, 1) ? () => unlock(descriptor, lockedByte, 1) : null;
}

/**
 * Returns true if a service has the lock. The check takes the lock for a moment. A service that starts at that moment
 * retries.
 */
export function isFileLocked(path: string): boolean {
  const descriptor = openForGood(path, 'r');
  if (!tryLock(descriptor, lockedByte, 1, { shared: true })) return true;
  unlock(descriptor, lockedByte, 1);
  return false;
}

/**
 * Opens a file and never closes it, because SQLite uses POSIX locks. If a process closes any descriptor of a file,
 * the system drops all POSIX locks of the process on it (SQLite, How To Corrupt, section 2.2).
 */
function openForGood(path: string, flags: string): number {
  return openSync(path, flags);
}
