import type { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SingleBar } from 'cli-progress';
import measureWidth from 'string-width';
import { OperatorError, reasonOf } from '../errors.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { toTime } from '../format.ts';
import { toPrintable, toPrintableJson } from '../observability/safe-text.ts';

type Output = Writable & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** True if the terminal supports colours and NO_COLOR is not set. Only terminals have this method. */
  hasColors?(): boolean;
};

/** Where a command reads and writes. */
export interface Terminal {
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
}

type Stdout = Pick<Terminal, 'stdout'>;
type Stderr = Pick<Terminal, 'stderr'>;

export function writeLine({ stdout }: Stdout, text: string): void {
  stdout.write(`${toPrintable(text)}\n`);
}

/** Warns of a result that the operator may not have intended. */
export function writeWarning({ stderr }: Stderr, text: string): void {
  stderr.write(`warning: ${toPrintable(text)}\n`);
}

/**
 * Records in the audit log that something was copied out of the store. If the store cannot be written, as on a full disk,
 * warns: the copy is made, and on such a day it is needed.
 */
export async function recordOrWarn(terminal: Stderr, record: () => Promise<void>): Promise<void> {
  try {
    await record();
  } catch (error) {
    const reason = reasonOf(error instanceof Error && error.cause !== undefined ? error.cause : error);
    writeWarning(terminal, `the audit log has no entry of this: ${reason}`);
  }
}

export function writeJson({ stdout }: Stdout, value: unknown): void {
  stdout.write(`${toPrintableJson(stringifyExactJson(value))}\n`);
}

/**
 * Writes a stream to standard output until its reader closes it. Returns the error if standard output fails. main.ts
 * reports it, unless the reader has closed.
 */
export async function writeUntilClosed(
  source: Readable,
  stdout: Output,
): Promise<NodeJS.ErrnoException | null> {
  let outputError: NodeJS.ErrnoException | null = null;
  stdout.once('error', (error) => {
    outputError = error;
  });
  try {
    await pipeline(source, stdout, { end: false });
  } catch (error) {
    if (error !== outputError) throw error;
  }
  return outputError;
}

/**
 * Writes a stream to standard output, which is of no use without its end. Returns false if standard output fails, which
 * main.ts reports. Throws OperatorError if the reader closes it before the end.
 */
export async function writeToEnd(source: Readable, stdout: Output): Promise<boolean> {
  const error = await writeUntilClosed(source, stdout);
  if (error?.code === 'EPIPE') throw new OperatorError('the reader of standard output left before the end');
  return error === null;
}

/**
 * Starts a progress bar on standard error. Returns null if standard error is not a terminal. With `linewrap`, it cuts its line
 * to the width of the terminal. Otherwise it would turn the wrapping of the terminal off, which a killed command leaves so.
 */
export function startBar({ stderr: stream }: Stderr, format: string, total: number, shown: object) {
  if (!stream.isTTY) return null;
  const bar = new SingleBar({ stream, format, clearOnComplete: true, linewrap: true, gracefulExit: false });
  bar.start(total, 0, shown);
  return bar;
}

/** Returns a time in UTC, to the minute, or a dash for none. The time is in Unix milliseconds or in RFC 3339. */
export function formatTime(time: number | string | null = null): string {
  if (time === null) return '-';
  const minute = new Date(time).toISOString().slice(0, 16);
  return `${minute.replace('T', ' ')}Z`;
}

export function formatSecond(ms: number): string {
  const second = new Date(ms).toISOString().slice(0, 19);
  return `${second.replace('T', ' ')}Z`;
}

/** Returns a row for --json. A time such as `createdAtMs` becomes a time in RFC 3339 with the name `createdAt`. */
export function withIsoTimes(row: object): object {
  const fields = Object.entries(row).map(([name, value]) => {
    const [, time] = /^(.*(?:at|until))Ms$/i.exec(name) ?? [];
    return time === undefined ? [name, value] : [time, toTime(value)];
  });
  return Object.fromEntries(fields);
}

/** Returns a number with its noun: `1 animal`, `1,000,000 animals`. */
export function countThings(count: number, thing: string): string {
  return `${count.toLocaleString('en-US')} ${thing}${count === 1 ? '' : 's'}`;
}

/** Returns the seconds since `startedMs`, a time of `performance.now()`: `1.2`. */
export function formatSecondsSince(startedMs: number): string {
  return ((performance.now() - startedMs) / 1_000).toFixed(1);
}

/** Width in columns that a table may always have: that of the usual terminal. It also counts where there is no terminal. */
const widthMin = 80;
const gap = '  ';

export interface Column<Row> {
  readonly heading: string;
  readonly cell: (row: Row) => string;
  /** If the table does not fit, the columns with the highest number are omitted first, and those without one never. */
  readonly leavesAt?: number;
}

/** Prints rows in aligned columns with headings. Omits columns until the table fits the terminal. */
export function writeColumns<Row>(
  terminal: Stdout,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): void {
  const measured = columns.map(({ heading, cell, leavesAt = 0 }) => {
    const cells = [heading, ...rows.map((row) => toPrintable(cell(row)))];
    const width = cells.reduce((widest, text) => Math.max(widest, measureWidth(text)), 0);
    return { cells, width, leavesAt };
  });
  const shown = fit(measured, Math.max(widthMin, terminal.stdout.columns ?? 0));
  // Line 0 has the headings.
  for (let line = 0; line <= rows.length; line += 1) {
    const cells = shown.map(({ cells, width }) => pad(cells[line] ?? '', width));
    writeLine(terminal, cells.join(gap).trimEnd());
  }
}

function fit<Measured extends { readonly width: number; readonly leavesAt: number }>(
  columns: readonly Measured[],
  widthMax: number,
): readonly Measured[] {
  const total = columns.reduce((sum, { width }) => sum + width + gap.length, -gap.length);
  const first = Math.max(...columns.map(({ leavesAt }) => leavesAt));
  if (total <= widthMax || first === 0) return columns;
  const left = columns.filter(({ leavesAt }) => leavesAt !== first);
  return fit(left, widthMax);
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(width - measureWidth(text));
}
