import { dayMs, minuteMs, secondMs } from '../../clock.ts';
import type { Limits } from '../../plans/plan.ts';

/** What is counted for a subject once a request has been dealt with; a window that is not open has 0 used. */
export interface Usage {
  /** `refused`: a window had no room; `banned`: the key was under a ban before. Neither has been counted. */
  readonly verdict: 'passed' | 'refused' | 'banned';
  /** When that was, by the clock that the ends are told by: the counters' own where they have one. */
  readonly atMs: number;
  readonly minuteUsed: number;
  readonly minuteEndsAtMs: number;
  readonly dayUsed: number;
  readonly dayEndsAtMs: number;
  /** When the key's ban ends, one that this request has begun included; 0 if there is none. */
  readonly bannedUntilMs: number;
}

/** Whether this request has begun a ban of its key: of all requests of a ban, the first alone is `refused`. */
export function beginsBan({ verdict, bannedUntilMs }: Usage): boolean {
  return verdict === 'refused' && bannedUntilMs > 0;
}

/** The headers that tell of the limits (interface section 8), under lower-case names; a type alias, so that it is a record. */
export type LimitHeaders = {
  readonly 'x-ratelimit-limit': string;
  readonly 'x-ratelimit-remaining': string;
  readonly 'x-ratelimit-reset': string;
  readonly 'ratelimit-policy': string;
  readonly ratelimit: string;
  /** Only where the request is refused. */
  readonly 'retry-after'?: string;
};

/** The limits' answer to one request. */
export interface Decision {
  /** Null where the request passes; else the code of its 429. */
  readonly code: 'rate_limit_exceeded' | 'key_banned' | null;
  /** How long to wait, whole seconds rounded up: sent then, a request passes; a second earlier, not. 0 if it passes. */
  readonly retryAfterSeconds: number;
  /** For the response. */
  readonly headers: LimitHeaders;
}

/**
 * The verdict and its headers (interface section 8, contract section 6). They describe the window with the fewest
 * requests left, on a tie the minute; on a refusal the window that refused, or the longer wait of the two. A ban shows
 * as a minute window with nothing left until its end.
 */
export function decide(usage: Usage, limits: Limits): Decision {
  const { verdict, atMs: nowMs } = usage;
  const dayLeft = Math.max(0, limits.perDay - usage.dayUsed);
  const dayEndsAtMs = usage.dayUsed === 0 ? nowMs + dayMs : usage.dayEndsAtMs;
  let minuteLeft = Math.max(0, limits.perMinute - usage.minuteUsed);
  let minuteEndsAtMs = usage.minuteUsed === 0 ? nowMs + minuteMs : usage.minuteEndsAtMs;
  if (usage.bannedUntilMs > 0) {
    // A ban that has just begun lasts at least a minute: no minute window ends after it.
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
  if (verdict === 'passed') return { code: null, retryAfterSeconds: 0, headers };
  const retryAfterSeconds = secondsUntil(resetAtMs, nowMs);
  return {
    code: verdict === 'banned' ? 'key_banned' : 'rate_limit_exceeded',
    retryAfterSeconds,
    headers: { ...headers, 'retry-after': String(retryAfterSeconds) },
  };
}

/** At least 1, as an end that is told always lies ahead. */
function secondsUntil(endsAtMs: number, nowMs: number): number {
  return Math.ceil((endsAtMs - nowMs) / secondMs);
}

/** `000` to `999`. */
const lastDigits = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, '0'));

/**
 * Writes a count, a whole number of at least 0, in parts. Nearly every request has another count, and V8 keeps the texts
 * of the last thousands of numbers: written whole they would grow old there, and the old generation would have to be
 * collected every few seconds.
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

/** The texts that depend on the plan alone, made once for each. */
function fixedTexts(limits: Limits): FixedTexts {
  const known = textsByLimits.get(limits);
  if (known !== undefined) return known;
  const { perMinute, perDay } = limits;
  const policy = `"minute";q=${perMinute};w=${minuteMs / secondMs}, "day";q=${perDay};w=${dayMs / secondMs}`;
  const texts = { perMinute: String(perMinute), perDay: String(perDay), policy };
  textsByLimits.set(limits, texts);
  return texts;
}
