import { toPrintable } from '../observability/printable.ts';
import { writeLine } from './output.ts';
import type { Terminal } from './terminal.ts';
import { measureWidth } from './text-width.ts';

/** A table may always be this wide, even on a narrower terminal. */
const widthMin = 80;
const gap = '  ';

/** A column of a table. */
export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => string;
  /**
   * If there is not enough room, columns with the highest number are left out first. A column without a number always
   * stays.
   */
  readonly leavesAt?: number;
}

/** Prints rows in aligned columns under their headings, and leaves out columns until the table fits the terminal. */
export function writeColumns<Row>(
  terminal: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const measured = columns.map(({ heading, cell, leavesAt = 0 }) => {
    const cells = [heading, ...rows.map((row) => toPrintable(cell(row)))];
    const width = cells.reduce((widest, text) => Math.max(widest, measureWidth(text)), 0);
    return { cells, width, leavesAt };
  });
  const shown = fit(measured, Math.max(widthMin, readWidth(terminal)));
  for (let line = 0; line <= rows.length; line += 1)
    writeLine(
      terminal,
      shown
        .map(({ cells, width }) => pad(cells[line] ?? '', width))
        .join(gap)
        .trimEnd(),
    );
}

interface Measured {
  readonly cells: readonly string[];
  readonly width: number;
  readonly leavesAt: number;
}

function fit(columns: readonly Measured[], width: number): readonly Measured[] {
  const total = columns.reduce((sum, column) => sum + column.width + gap.length, -gap.length);
  const first = columns.reduce((highest, { leavesAt }) => Math.max(highest, leavesAt), 0);
  if (total <= width || first === 0) return columns;
  return fit(
    columns.filter(({ leavesAt }) => leavesAt !== first),
    width,
  );
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - measureWidth(text)));
}

/** The columns of the terminal; 0 without a terminal. */
function readWidth({ stdout }: Terminal): number {
  return 'columns' in stdout && typeof stdout.columns === 'number' ? stdout.columns : 0;
}
