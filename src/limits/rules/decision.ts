import { dayMs, minuteMs, secondMs } from '../../clock.ts';
import type { Limits } from '../../plans/plan.ts';

/** The counts of a subject after a request. A window that is not open has 0 used. */
export interface Usage {
  /** `refused`: a window had no room. `banned`: the key was already banned. Neither is counted. */
  readonly verdict: 'passed' | 'refused' | 'banned';
  /** The time of the request, by the clock of the window ends: the counters' own clock if they have one. */
  readonly atMs: number;
  readonly minuteUsed: number;
  readonly minuteEndsAtMs: number;
  readonly dayUsed: number;
  readonly dayEndsAtMs: number;
  /** The end of the key's ban, also if this request began it; 0 if there is none. */
  readonly bannedUntilMs: number;
}

/**
 * Whether this request began a ban of its key. Only the first request of a ban is `refused`; later ones are `banned`.
 */
export function beginsBan({ verdict, bannedUntilMs }: Usage): boolean {
  return verdict === 'refused' && bannedUntilMs > 0;
}

/**
 * The headers that describe the limits (interface section 8), in lower case. A type alias, so that it is assignable
 * to a record.
 */
export type LimitHeaders = {
  readonly 'x-ratelimit-limit': string;
  readonly 'x-ratelimit-remaining': string;
  readonly 'x-ratelimit-reset': string;
  readonly 'ratelimit-policy': string;
  readonly ratelimit: string;
  /** Only if the request is refused. */
  readonly 'retry-after'?: string;
};

/** The decision of the limits on one request. */
export interface Decision {
  /** Null if the request passes; else the code of its 429. */
  readonly code: 'rate_limit_exceeded' | 'key_banned' | null;
  /**
   * How long to wait in whole seconds, rounded up; 0 if the request passes. After that time a request passes, a
   * second earlier it does not.
   */
  readonly retryAfterSeconds: number;
  /** The headers of the response. */
  readonly headers: LimitHeaders;
  /** The counts behind the decision. */
  readonly usage: Usage;
}

/** The rest of a window. */
export interface WindowLeft {
  readonly limit: number;
  readonly remaining: number;
  /** Unix milliseconds. For a window that is not open: its end if it opened now. */
  readonly resetAtMs: number;
}

/** The rest of both windows. */
export function measureWindows(usage: Usage, { perMinute, perDay }: Limits) {
  const { atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs } = usage;
  const minute: WindowLeft = {
    limit: perMinute,
    remaining: Math.max(0, perMinute - minuteUsed),
    resetAtMs: minuteUsed === 0 ? atMs + minuteMs : minuteEndsAtMs,
  };
  const day: WindowLeft = {
    limit: perDay,
    remaining: Math.max(0, perDay - dayUsed),
    resetAtMs: dayUsed === 0 ? atMs + dayMs : dayEndsAtMs,
  };
  return { minute, day };
}

/**
 * The decision and its headers (interface section 8, contract section 6). The headers describe the window with the
 * fewest requests left; on a tie, the minute. On a refusal they describe the window that refused; if both did, the
 * longer wait. A ban appears as a minute window with nothing left until the ban ends.
 */
export function decide(usage: Usage, limits: Limits): Decision {
  const { verdict, atMs: nowMs } = usage;
  const dayLeft = Math.max(0, limits.perDay - usage.dayUsed);
  const dayEndsAtMs = usage.dayUsed === 0 ? nowMs + dayMs : usage.dayEndsAtMs;
  let minuteLeft = Math.max(0, limits.perMinute - usage.minuteUsed);
  let minuteEndsAtMs = usage.minuteUsed === 0 ? nowMs + minuteMs : usage.minuteEndsAtMs;
  if (usage.bannedUntilMs > 0) {
    // A new ban lasts at least a minute, so no minute window ends after it.
    minuteLeft = 0;
    minuteEndsAtMs = usage.bannedUntilMs;
  }
  const byDay =
    dayLeft < minuteLeft || (verdict === 'refused' && dayLeft === 0 && dayEndsAtMs > minuteEndsAtMs);

  const fixed = fixedTexts(limits);
  const resetAtMs = byDay ? dayEndsAtMs : minuteEndsAtMs;
  const minuteLeftText = writeCount(minuteLeft);
  const dayLeftText = writeCount(dayLeft);
  const headers = {
    'x-ratelimit-limit': byDay ? fixed.perDay : fixed.perMinute,
    'x-ratelimit-remaining': byDay ? dayLeftText : minuteLeftText,
    'x-ratelimit-reset': String(Math.ceil(resetAtMs / secondMs)),
    'ratelimit-policy': fixed.policy,
    ratelimit: `"minute";r=${minuteLeftText};t=${secondsUntil(minuteEndsAtMs, nowMs)}, "day";r=${dayLeftText};t=${secondsUntil(dayEndsAtMs, nowMs)}`,
  };
  if (verdict === 'passed') return { code: null, retryAfterSeconds: 0, headers, usage };
  const retryAfterSeconds = secondsUntil(resetAtMs, nowMs);
  return {
    code: verdict === 'banned' ? 'key_banned' : 'rate_limit_exceeded',
    retryAfterSeconds,
    headers: { ...headers, 'retry-after': String(retryAfterSeconds) },
    usage,
  };
}

/** At least 1: the end of a window is always in the future. */
function secondsUntil(endsAtMs: number, nowMs: number): number {
  return Math.ceil((endsAtMs - nowMs) / secondMs);
}

/** `000` to `999`. */
const lastDigits = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));

/**
 * Formats a count (an integer of at least 0) in parts. V8 caches the texts of thousands of recent numbers, and nearly
 * every request has another count. Whole texts would grow old in that cache, and the old generation would need a
 * collection every few seconds.
 */
function writeCount(count: number): string {
  return count < 1_000 ? String(count) : `${Math.trunc(count / 1_000)}${lastDigits[count % 1_000]}`;
}

interface FixedTexts {
  readonly perMinute: string;
  readonly perDay: string;
  readonly policy: string;
}

const textsByLimits = new WeakMap<Limits, FixedTexts>();

/** The texts that depend only on the limits, cached. */
function fixedTexts(limits: Limits): FixedTexts {
  const known = textsByLimits.get(limits);
  if (known !== undefined) return known;
  const { perMinute, perDay } = limits;
  const policy = `"minute";q=${perMinute};w=${minuteMs / secondMs}, "day";q=${perDay};w=${dayMs / secondMs}`;
  const texts = { perMinute: String(perMinute), perDay: String(perDay), policy };
  textsByLimits.set(limits, texts);
  return texts;
}
