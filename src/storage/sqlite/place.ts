import { existsSync, type Stats, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { secondMs } from '../../clock.ts';
import { storeUnavailable } from '../store-errors.ts';

/** Interval in ms of the check that the `-wal` is still the same file. Its existence is checked at each call. */
const walLookMs = secondMs;

/**
 * Remembers the files of an open store. Returns a function that throws AppError `unavailable` if a file was deleted,
 * moved or replaced, because SQLite would write on to the removed file. A `stat` of the `-wal` at each call would take
 * ten times as long: the next write updates its time, and the fsync then writes the inode too.
 */
export function holdPlace(path: string): () => void {
  const wal = `${path}-wal`;
  const opened = look(path);
  const openedWal = look(wal);
  let walSeenAtMs = performance.now();

  function isWalInPlace(): boolean {
    if (!existsSync(wal)) return false;
    const nowMs = performance.now();
    if (nowMs - walSeenAtMs < walLookMs) return true;
    if (!isSame(look(wal), openedWal)) return false;
    walSeenAtMs = nowMs;
    return true;
  }

  return () => {
    const lost = !isSame(look(path), opened) ? path : isWalInPlace() ? null : wal;
    if (lost !== null)
      throw storeUnavailable(
        new Error(
          `${lost} is not the file that was opened: put the original file back, or restart the service`,
        ),
      );
  };
}

/** Returns undefined if the file does not exist or cannot be read. */
function look(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isSame(file: Stats | undefined, other: Stats | undefined): boolean {
  return file?.ino === other?.ino && file?.dev === other?.dev;
}
