import { stringifyExactJson } from '../exact-json.ts';
import { toPrintable, toPrintableJson } from '../observability/safe-text.ts';
import type { Terminal } from './command.ts';

export function writeLine({ stdout }: Pick<Terminal, 'stdout'>, text: string): void {
  stdout.write(`${toPrintable(text)}\n`);
}

/** Warns of a result that the operator may not have intended. */
export function writeWarning({ stderr }: Pick<Terminal, 'stderr'>, text: string): void {
  stderr.write(`warning: ${toPrintable(text)}\n`);
}

export function writeJson({ stdout }: Pick<Terminal, 'stdout'>, value: unknown): void {
  stdout.write(`${toPrintableJson(stringifyExactJson(value))}\n`);
}

/** Returns a time in UTC, to the minute, or a dash for null. */
export function formatTime(ms: number | null): string {
  return ms === null ? '-' : `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

/** Returns a time in UTC, to the second. */
export function formatSecond(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

/** Returns a time in RFC 3339, or null for null. */
export function toIsoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Returns a row for --json. A time such as `createdAtMs` becomes a time in RFC 3339 with the name `createdAt`. */
export function withIsoTimes(row: object): object {
  const fields = Object.entries(row).map(([name, value]) => {
    const [, time] = /^(.*(?:at|until))Ms$/i.exec(name) ?? [];
    return time === undefined ? [name, value] : [time, toIsoTime(value)];
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
