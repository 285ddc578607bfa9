import { SingleBar } from 'cli-progress';
import { countThings } from './count-things.ts';
import type { Terminal } from './terminal.ts';

/** A bar on standard error that shows how many of all rows a phase of a work has done. */
export interface RowProgress {
  show(phase: string, rows: number, rowsTotal: number): void;
  /** Takes the bar away. */
  stop(): void;
}

/** Starts a bar where standard error is a terminal; elsewhere nothing is shown. */
export function startRowProgress({ stderr }: Terminal): RowProgress {
  if (!stderr.isTTY) return { show: () => undefined, stop: () => undefined };
  const bar = new SingleBar({
    stream: stderr,
    format: '{phase} [{bar}] {percentage} % of {all}',
    clearOnComplete: true,
    linewrap: true,
    gracefulExit: false,
  });
  let shownPhase = 'opening';
  bar.start(1, 0, { phase: shownPhase, all: countThings(0, 'row') });
  return {
    show(phase, rows, rowsTotal) {
      bar.setTotal(rowsTotal);
      bar.update(rows, { phase, all: countThings(rowsTotal, 'row') });
      if (phase !== shownPhase) bar.render();
      shownPhase = phase;
    },
    stop: () => bar.stop(),
  };
}
