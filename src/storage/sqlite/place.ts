import { existsSync, type Stats, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { secondMs } from '../../clock.ts';
import { storeUnavailable } from '../store-unavailable.ts';

/** How often the -wal is looked at for being the same file; that it is there is looked at each time. */
const walLookMs = secondMs;

/**
 * Remembers the files of an open store, and gives what throws AppError `unavailable` while one of them is not at its
 * place: taken away, moved, or another one. SQLite goes on writing to a file that has no name any more, and all that
 * it wrote is gone when the service ends. Costs about 3 us under load, and 15 where a client is alone.
 *
 * To ask the -wal for its times would cost about 30 us: a file whose times have been read gets new ones with its
 * next write, which makes the sync behind it write the file's own entry, too.
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

/** Undefined where there is no file that can be looked at. */
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
