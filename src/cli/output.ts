import { stringifyExactJson } from '../exact-json.ts';
import { toPrintable } from '../observability/printable.ts';
import type { Terminal } from './terminal.ts';
import { measureWidth } from './text-width.ts';

/** Writes a line for people. */
export function writeLine({ stdout }: Terminal, text: string): void {
  stdout.write(`${toPrintable(text)}\n`);
}

/** Writes one JSON value and nothing else. */
export function writeJson({ stdout }: Terminal, value: unknown): void {
  stdout.write(`${stringifyExactJson(value)}\n`);
}

/** Writes rows under their headings in aligned columns. */
export function writeTable(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  const lines = [headings, ...rows.map((row) => row.map(toPrintable))];
  const widths = headings.map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, measureWidth(line[column] ?? '')), 0),
  );
  for (const line of lines) {
    const cells = line.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - measureWidth(cell)));
    writeLine(terminal, cells.join('  ').trimEnd());
  }
}

/** A time as people read it, in UTC and to the minute; null as a dash. */
export function formatTime(ms: number | null): string {
  return ms === null ? '-' : `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

/** A time for programs, RFC 3339; null stays null. */
export function toIsoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
