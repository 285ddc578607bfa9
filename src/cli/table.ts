import measureWidth from 'string-width';
import { toPrintable } from '../observability/safe-text.ts';
import type { Terminal } from './command.ts';
import { writeLine } from './output.ts';

/** Width in columns that a table may always have, even on a narrower terminal. */
const widthMin = 80;
const gap = '  ';

export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => string;
  /**
   * If the table does not fit, the columns with the highest number are omitted first. A column without a number is
   * never omitted.
   */
  readonly leavesAt?: number;
}

/** Prints rows in aligned columns with headings. Omits columns until the table fits the terminal. */
export function writeColumns<Row>(
  terminal: Pick<Terminal, 'stdout'>,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const measured = columns.map(({ heading, cell, leavesAt = 0 }) => {
    const cells = [heading, ...rows.map((row) => toPrintable(cell(row)))];
    const width = cells.reduce((widest, text) => Math.max(widest, measureWidth(text)), 0);
    return { cells, width, leavesAt };
  });
  const shown = fit(measured, Math.max(widthMin, readWidth(terminal)));
  for (let line = 0; line <= rows.length; line += 1) {
    const cells = shown.map(({ cells, width }) => pad(cells[line] ?? '', width));
    writeLine(terminal, cells.join(gap).trimEnd());
  }
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
  const rest = columns.filter(({ leavesAt }) => leavesAt !== first);
  return fit(rest, width);
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(width - measureWidth(text));
}

/** Returns the width of the terminal in columns, or 0 if standard output is not a terminal. */
function readWidth({ stdout }: Pick<Terminal, 'stdout'>): number {
  return 'columns' in stdout && typeof stdout.columns === 'number' ? stdout.columns : 0;
}
