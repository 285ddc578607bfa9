import { SingleBar } from 'cli-progress';
import type { Terminal } from './command.ts';

/** Starts a progress bar on standard error. Returns null if standard error is not a terminal. */
export function startBar({ stderr }: Pick<Terminal, 'stderr'>, format: string, total: number, shown: object) {
  if (!stderr.isTTY) return null;
  const bar = new SingleBar({
    stream: stderr,
    format,
    clearOnComplete: true,
    linewrap: true,
    gracefulExit: false,
  });
  bar.start(total, 0, shown);
  return bar;
}
