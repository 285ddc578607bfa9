import { dayMs, hourMs, minuteMs, secondMs } from '../../clock.ts';

/** How long one attempt may take, from the DNS query to the headers of the answer (contract section 14). */
export const attemptMsMax = 15 * secondMs;

/** The waits after the first failures. Further failures use the last one. */
const waitsMs = [5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs] as const;
/** Each wait is up to this share shorter or longer, so that receivers that fail together are not retried together. */
const jitter = 0.1;

/** A longer `Retry-After` is cut to this. */
export const retryAfterMsMax = hourMs;

/** A webhook that fails for this long is disabled. */
export const failingMsMax = 5 * dayMs;

/**
 * How many milliseconds to wait after a number of failures in a row, from 1. `random` is from 0 to 1. `retryAfterMs` is
 * the `Retry-After` of the receiver, or null.
 */
export function planWaitMs(failures: number, random: number, retryAfterMs: number | null): number {
  const usualMs = waitsMs[Math.min(failures, waitsMs.length) - 1] ?? waitsMs[0];
  const waitMs = Math.round(usualMs * (1 + jitter * (2 * random - 1)));
  return Math.max(waitMs, Math.min(retryAfterMs ?? 0, retryAfterMsMax));
}

/**
 * The wait in a `Retry-After` in milliseconds (RFC 9110, section 10.2.3): whole seconds, or a date, compared with
 * `nowMs`. Null if there is none, or if it is invalid.
 */
export function readRetryAfterMs(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * secondMs;
  const atMs = / GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
