import { SingleBar } from 'cli-progress';
import { countThings } from './count-things.ts';
import type { Terminal } from './terminal.ts';

/** A progress bar on standard error for the rows of one phase. */
export interface RowProgress {
  show(phase: string, rows: number, rowsTotal: number): void;
  stop(): void;
}

/** Shows nothing if standard error is not a terminal. */
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
