import { SingleBar } from 'cli-progress';
import type { Terminal } from './command.ts';
import { countThings } from './output.ts';

/** A progress bar on standard error. Nothing is shown if standard error is not a terminal. */
function startBar({ stderr }: Pick<Terminal, 'stderr'>, format: string, total: number, shown: object) {
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

const toMib = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

/** Shows the progress of reading a file, and then of writing. `totalBytes` is null if the size is unknown. */
export function startReadProgress(terminal: Pick<Terminal, 'stderr'>, totalBytes: number | null) {
  const format = totalBytes === null ? '{phase} {mib} MiB' : '{phase} [{bar}] {percentage} % of {mib} MiB';
  const bar = startBar(terminal, format, totalBytes ?? 0, { phase: 'reading', mib: toMib(totalBytes ?? 0) });
  let readBytes = 0;
  return {
    advance(bytes: number): void {
      readBytes += bytes;
      bar?.update(readBytes, { mib: toMib(totalBytes ?? readBytes) });
    },
    /** Writing blocks the event loop, so the bar cannot move until the end. */
    beginWriting(): void {
      bar?.update(readBytes, { phase: 'writing' });
      bar?.render();
    },
    /** Removes the bar. */
    stop: () => bar?.stop(),
  };
}

/** Shows the progress of phases that process rows. */
export function startRowProgress(terminal: Pick<Terminal, 'stderr'>) {
  let shownPhase = 'opening';
  const format = '{phase} [{bar}] {percentage} % of {all}';
  const bar = startBar(terminal, format, 1, { phase: shownPhase, all: countThings(0, 'row') });
  return {
    show(phase: string, rows: number, rowsTotal: number): void {
      bar?.setTotal(rowsTotal);
      bar?.update(rows, { phase, all: countThings(rowsTotal, 'row') });
      if (phase !== shownPhase) bar?.render();
      shownPhase = phase;
    },
    /** Removes the bar. */
    stop: () => bar?.stop(),
  };
}
