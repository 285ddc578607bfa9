import { stringifyExactJson } from '../exact-json.ts';
import { toPrintable } from '../observability/printable.ts';
import type { Terminal } from './terminal.ts';

export function writeLine({ stdout }: Terminal, text: string): void {
  stdout.write(`${toPrintable(text)}\n`);
}

/** Warns of a result that the operator may not have intended. */
export function writeWarning({ stderr }: Terminal, text: string): void {
  stderr.write(`warning: ${toPrintable(text)}\n`);
}

export function writeJson({ stdout }: Terminal, value: unknown): void {
  stdout.write(`${stringifyExactJson(value)}\n`);
}

/** Returns a time in UTC, to the minute, or a dash for null. */
export function formatTime(ms: number | null): string {
  return ms === null ? '-' : `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

/** Returns a time in RFC 3339, or null for null. */
export function toIsoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
