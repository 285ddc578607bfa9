import { dayMs, hourMs, minuteMs, secondMs } from '../../clock.ts';

/** Timeout of an attempt, from the DNS query to the headers of the response. */
export const attemptMsMax = 15 * secondMs;

/** Backoff after the first failures in a row. Further failures use the last value. */
const waitsMs = [5 * secondMs, 30 * secondMs, 2 * minuteMs, 10 * minuteMs, 30 * minuteMs] as const;
/** Part of a wait by which it is randomly shorter or longer, so that receivers that fail together are not retried so. */
const jitter = 0.1;

/** Maximum wait from a `Retry-After`. A longer value counts as this maximum. */
const retryAfterMsMax = hourMs;

/** A retry that is further away was planned before a clock was set back, and is due. The minute is for small steps. */
export const plannedMsMax = retryAfterMsMax + minuteMs;

/** A webhook that always fails is disabled after this time, if it had at least `failingAttemptsMin` attempts in it. */
export const failingMsMax = 5 * dayMs;
export const failingAttemptsMin = 100;

/**
 * Returns the milliseconds until the next attempt, after `failures` failures in a row. `random` is from 0 to 1. The wait
 * is at least the `Retry-After` of the receiver, which counts up to `retryAfterMsMax`.
 */
export function planWaitMs(failures: number, random: number, retryAfterMs: number | null): number {
  const usualMs = waitsMs[Math.min(failures, waitsMs.length) - 1] ?? waitsMs[0];
  const waitMs = Math.round(usualMs * (1 + jitter * (2 * random - 1)));
  return Math.max(waitMs, Math.min(retryAfterMs ?? 0, retryAfterMsMax));
}

/** Returns the wait in a `Retry-After`, which is a number of seconds or a date. Null if it is absent or invalid. */
export function readRetryAfterMs(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * secondMs;
  const atMs = / GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}
