import { existsSync, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { secondMs } from '../clock.ts';
import { storeUnavailable } from './store-unavailable.ts';

/** How often the files are looked at for being the same; that they are there is looked at each time. */
const thoroughLookMs = secondMs;

/**
 * Remembers the files of an open store, and gives what throws AppError `unavailable` while one of them is not at its
 * place: taken away, moved, or, a second later at most, another one. SQLite goes on writing to a file that has no name
 * any more, and all that it wrote is gone when the service ends. Mostly it is two calls of the system, 3 to 5 us.
 *
 * To ask each time which file the store's is would cost a client that is alone 4 % of its adds. To ask it of the -wal
 * would cost about 30 us: a file whose times have been read gets new ones with its next write, which makes the sync
 * behind it write the file's own entry, too.
 */
export function holdPlace(path: string): () => void {
  const places = [path, `${path}-wal`].map((file) => ({ file, opened: identify(file) }));
  let lookedAtMs = performance.now();

  return () => {
    const nowMs = performance.now();
    const isThorough = nowMs - lookedAtMs >= thoroughLookMs;
    const lost = places.find(
      ({ file, opened }) => !existsSync(file) || (isThorough && identify(file) !== opened),
    );
    if (lost !== undefined)
      throw storeUnavailable(
        new Error(`${lost.file} is not the file that was opened: put it back, or restart`),
      );
    if (isThorough) lookedAtMs = nowMs;
  };
}

/** The same for the same file only; null where there is none. */
function identify(file: string): string | null {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}
