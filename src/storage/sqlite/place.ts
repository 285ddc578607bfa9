import { existsSync, type Stats, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { secondMs } from '../../clock.ts';
import { storeUnavailable } from '../store-unavailable.ts';

/** How often to check that the -wal is the same file. Whether it exists is checked each time. */
const walLookMs = secondMs;

/**
 * Remembers the files of an open store. Returns a function that throws AppError `unavailable` if one of them was
 * deleted, moved or replaced. SQLite keeps writing to a file without a name, and everything written is lost when the
 * service ends. Costs about 3 us under load, and 15 us for a single client.
 *
 * Reading the times of the -wal would cost about 30 us: after a read, the next write updates them, and its sync must
 * write the inode too.
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
      throw storeUnavailable(new Error(`${lost} is not the file that was opened: put it back, or restart`));
  };
}

/** Undefined if the file does not exist or cannot be read. */
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
