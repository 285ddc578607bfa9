import { stringifyExactJson } from '../exact-json.ts';
import { toPrintable } from '../observability/printable.ts';
import type { Terminal } from './terminal.ts';

export function writeLine({ stdout }: Terminal, text: string): void {
  stdout.write(`${toPrintable(text)}\n`);
}

/** Prints a warning: something happened that the operator may not have intended. */
export function writeWarning({ stderr }: Terminal, text: string): void {
  stderr.write(`warning: ${toPrintable(text)}\n`);
}

/** Prints one JSON value and nothing else. */
export function writeJson({ stdout }: Terminal, value: unknown): void {
  stdout.write(`${stringifyExactJson(value)}\n`);
}

/** A time in UTC, to the minute; a dash for null. */
export function formatTime(ms: number | null): string {
  return ms === null ? '-' : `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

/** A time in RFC 3339; null stays null. */
export function toIsoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
