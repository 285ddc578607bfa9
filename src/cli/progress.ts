import { SingleBar } from 'cli-progress';
import type { Terminal } from './terminal.ts';

/** A bar on standard error that shows how far a file has been read. */
export interface Progress {
  advance(bytes: number): void;
  /** The reading has ended; shown before the writing keeps the process from drawing. */
  beginWriting(): void;
  /** Takes the bar away. */
  stop(): void;
}

const silent: Progress = { advance: () => undefined, beginWriting: () => undefined, stop: () => undefined };

/** Starts a bar where standard error is a terminal; elsewhere nothing is shown. A total of null is not known. */
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
