import { dayMs, hourMs, minuteMs, secondMs } from './clock.ts';

/** Formats a time as RFC 3339 in UTC with milliseconds. Null stays null. */
export const toTime = (ms: number | bigint | null): string | null =>
  ms === null ? null : new Date(Number(ms)).toISOString();

const mebibyte = 2 ** 20;

/** Returns a size such as `12.0 MiB` or `1.5 GiB`. */
export function formatBytes(bytes: number): string {
  const mebibytes = bytes / mebibyte;
  return mebibytes < 1_024 ? `${mebibytes.toFixed(1)} MiB` : `${(mebibytes / 1_024).toFixed(1)} GiB`;
}

const timeForm = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)?)?$/;

/** What a text must be for `readTime`: every form in which the commands and the console print a time. */
export const timeRule =
  'a date or a time, as in 2027-01-11 or 2027-01-11 09:30:00Z, in UTC without an offset';

/**
 * Returns Unix milliseconds, or null if the text is not a time. A date begins in UTC, and a time without an offset is in
 * UTC. `Date.parse` takes the 30th of February for the 2nd of March.
 */
export function readTime(text: string): number | null {
  if (!timeForm.test(text)) return null;
  const [date, time = '00:00'] = text.split(/[T ]/) as [string, string?];
  const ms = Date.parse(`${date}T${time}${/Z|[+-]/.test(time) ? '' : 'Z'}`);
  return Number.isNaN(ms) || !new Date(date).toISOString().startsWith(date) ? null : ms;
}

const unitMs = { s: secondMs, m: minuteMs, h: hourMs, d: dayMs, w: 7 * dayMs };
const durationMsMax = 100 * 365 * dayMs;

/** Returns the milliseconds of `0`, `90s`, `15m`, `24h`, `30d` or `2w`, at most 100 years. Null for any other text. */
export function readDuration(text: string): number | null {
  const [, count = '', unit = ''] = /^(\d{1,10})([smhdw])$/.exec(text) ?? [];
  const durationMs = text === '0' ? 0 : Number(count) * (unitMs[unit as keyof typeof unitMs] ?? Number.NaN);
  return durationMs <= durationMsMax ? durationMs : null;
}

/** What a text must be for `readStart`. */
export const startRule = `a duration, as in 7d, or ${timeRule}`;

/** Returns Unix milliseconds, or null if the text is neither a time nor a duration that ends at `nowMs`. */
export function readStart(text: string, nowMs: number): number | null {
  const durationMs = readDuration(text);
  return readTime(text) ?? (durationMs === null ? null : nowMs - durationMs);
}

/** What a text must be for `readEnd`. */
export const endRule = `a duration, as in 2h, or, in the future, ${timeRule}`;

/** Returns Unix milliseconds after `nowMs`, or null if the text is neither a time nor a duration that ends later. */
export function readEnd(text: string, nowMs: number): number | null {
  const ms = readTime(text) ?? nowMs + (readDuration(text) ?? Number.NaN);
  return ms > nowMs ? ms : null;
}
