import { SingleBar } from 'cli-progress';
import type { Terminal } from './terminal.ts';

/** A progress bar on standard error for reading a file. */
export interface Progress {
  advance(bytes: number): void;
  /**
   * Shows that reading has ended and writing begins. Writing blocks the event loop, so the bar cannot move during that
   * time.
   */
  beginWriting(): void;
  /** Removes the bar. */
  stop(): void;
}

const silent: Progress = { advance: () => undefined, beginWriting: () => undefined, stop: () => undefined };

/** Shows nothing if standard error is not a terminal. `totalBytes` is null if the size is unknown. */
export function startProgress({ stderr }: Terminal, totalBytes: number | null): Progress {
  if (!stderr.isTTY) return silent;
  const format = totalBytes === null ? '{phase} {mib} MiB' : '{phase} [{bar}] {percentage} % of {mib} MiB';
  const bar = new SingleBar({
    stream: stderr,
    format,
    clearOnComplete: true,
    linewrap: true,
    gracefulExit: false,
  });
  let readBytes = 0;

  const toMib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);
  bar.start(totalBytes ?? 0, 0, { phase: 'reading', mib: toMib(totalBytes ?? 0) });
  return {
    advance(bytes) {
      readBytes += bytes;
      bar.update(readBytes, { mib: toMib(totalBytes ?? readBytes) });
    },
    beginWriting() {
      bar.update(readBytes, { phase: 'writing' });
      bar.render();
    },
    stop: () => bar.stop(),
  };
}
