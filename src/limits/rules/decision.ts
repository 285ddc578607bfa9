import { dayMs, minuteMs, secondMs } from '../../clock.ts';
import type { Limits } from '../../plans/plan.ts';
import { closeEnded, type Window, type Windows } from './windows.ts';

/** The windows of a subject after a request. */
export interface Usage extends Readonly<Windows> {
  /** `refused`: a window was full. `banned`: the key was already banned. Neither counts in the windows. */
  readonly verdict: 'passed' | 'refused' | 'banned';
  /** Time of the request, by the same clock as the ends of the windows. Shared counters use their own clock. */
  readonly atMs: number;
  /** When the ban of the key expires; 0 if there is none. If this request began a ban, that ban is included. */
  readonly bannedUntilMs: number;
}

/** True if this request began a ban. This request is `refused`; later requests during the ban are `banned`. */
export function beginsBan({ verdict, bannedUntilMs }: Usage): boolean {
  return verdict === 'refused' && bannedUntilMs > 0;
}

/** The names and values of the rate limit headers alternately. Has `retry-after` only if the request is refused. */
export type LimitHeaders = readonly string[];

/** The result of the limits for one request. */
export interface Decision {
  /** The code of the 429; null if the request passes. */
  readonly code: 'rate_limit_exceeded' | 'key_banned' | null;
  /** Seconds until a request passes again, rounded up; 0 if this request passes. */
  readonly retryAfterSeconds: number;
  readonly headers: LimitHeaders;
  /** The end, in Unix milliseconds, of the window that the headers describe. */
  readonly resetAtMs: number;
  readonly usage: Usage;
  readonly limits: Limits;
}

/** The remaining requests of a window. */
export interface WindowLeft {
  readonly limit: number;
  readonly remaining: number;
  /** Unix milliseconds. For a window that is not open: the end that it would have if it opened now. */
  readonly resetAtMs: number;
}

/** Returns the remaining requests of both windows. */
export function measureWindows({ atMs, minute, day }: Usage, { perMinute, perDay }: Limits) {
  return { minute: measure(minute, perMinute, atMs + minuteMs), day: measure(day, perDay, atMs + dayMs) };
}

function measure({ used, endsAtMs }: Window, limit: number, resetMsIfNew: number): WindowLeft {
  return { limit, remaining: Math.max(0, limit - used), resetAtMs: used === 0 ? resetMsIfNew : endsAtMs };
}

/**
 * The headers describe the window with the fewest requests left, on a tie the minute; of two windows that refuse, the one
 * that resets later. A ban appears as a minute window with no requests left that resets when the ban expires.
 */
export function decide(usage: Usage, limits: Limits): Decision {
  const { verdict, atMs: nowMs, bannedUntilMs } = usage;
  const windows = measureWindows(usage, limits);
  const { day } = windows;
  // A new ban lasts at least a minute, so the current minute window does not reset later.
  const minute =
    bannedUntilMs > 0 ? { ...windows.minute, remaining: 0, resetAtMs: bannedUntilMs } : windows.minute;
  const byDay =
    day.remaining < minute.remaining ||
    (verdict === 'refused' && day.remaining === 0 && day.resetAtMs > minute.resetAtMs);
  const { limit, remaining, resetAtMs } = byDay ? day : minute;
  const headers: LimitHeaders = [
    'x-ratelimit-limit',
    String(limit),
    'x-ratelimit-remaining',
    String(remaining),
    'x-ratelimit-reset',
    String(Math.ceil(resetAtMs / secondMs)),
    'ratelimit-policy',
    `"minute";q=${limits.perMinute};w=60, "day";q=${limits.perDay};w=86400`,
    'ratelimit',
    `"minute";${describeRest(minute, nowMs)}, "day";${describeRest(day, nowMs)}`,
  ];
  const described = { headers, resetAtMs, usage, limits };
  if (verdict === 'passed') return { ...described, code: null, retryAfterSeconds: 0 };
  return refuse(described, verdict, secondsUntil(resetAtMs, nowMs));
}

function refuse(
  described: Omit<Decision, 'code' | 'retryAfterSeconds'>,
  verdict: 'refused' | 'banned',
  retryAfterSeconds: number,
): Decision {
  return {
    ...described,
    headers: [...described.headers, 'retry-after', String(retryAfterSeconds)],
    code: verdict === 'banned' ? 'key_banned' : 'rate_limit_exceeded',
    retryAfterSeconds,
  };
}

/**
 * Returns a decision as it reads when its response is sent, `heldMs` later. A refusal stays one: if its window or its ban
 * has ended by then, a request passes at once, and `Retry-After` has its least value, 1.
 */
export function decideLater({ usage, limits, resetAtMs }: Decision, heldMs: number): Decision {
  const { verdict } = usage;
  const held = { ...usage, atMs: usage.atMs + heldMs };
  closeEnded(held, held.atMs);
  if (verdict === 'passed' || resetAtMs > held.atMs) return decide(held, limits);
  return refuse(decide({ ...held, verdict: 'passed', bannedUntilMs: 0 }, limits), verdict, 1);
}

function describeRest({ remaining, resetAtMs }: WindowLeft, nowMs: number): string {
  return `r=${remaining};t=${secondsUntil(resetAtMs, nowMs)}`;
}

/** At least 1, because the end of a window is always in the future. */
function secondsUntil(endsAtMs: number, nowMs: number): number {
  return Math.ceil((endsAtMs - nowMs) / secondMs);
}
