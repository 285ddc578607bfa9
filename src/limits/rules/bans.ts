import { dayMs, hourMs, minuteMs } from '../../clock.ts';

/** A key is banned for as many refused requests within this time as its plan lets through in a minute. */
export const strikesMs = minuteMs;
/** The fewest refused requests that begin a ban, however few a plan lets through in a minute. */
export const strikesMin = 60;
/** How long a first ban lasts. */
export const banMsMin = minuteMs;
/** The longest that a ban lasts, however often it has doubled. */
export const banMsMax = hourMs;
/** A ban that begins within this time of the start of the key's last one lasts twice as long. */
export const ladderMs = dayMs;

/** What is held against one key: its newest ban, and its refused requests since (contract section 6). */
export interface Conduct {
  /** When its newest ban began; 0 if it never had one. */
  banAtMs: number;
  /** How long that ban lasts; 0 if there was none. */
  banMs: number;
  /**
   * How many requests were refused in each millisecond, in the order of time: exact, and never more than 60,000
   * entries, however many a plan lets through.
   */
  readonly strikes: Map<number, number>;
  /** How many requests these are in all. */
  strikeCount: number;
}

/** The conduct of a key that nothing is held against. */
export function newConduct(): Conduct {
  return { banAtMs: 0, banMs: 0, strikes: new Map(), strikeCount: 0 };
}

/**
 * When the ban ends that the key is under; 0 if it is under none. Where the clock was set back, a ban begins anew at
 * most.
 */
export function bannedUntilMs(conduct: Conduct, nowMs: number): number {
  if (conduct.banAtMs > nowMs) conduct.banAtMs = nowMs;
  const endsAtMs = conduct.banAtMs + conduct.banMs;
  return endsAtMs > nowMs ? endsAtMs : 0;
}

/** Holds a request that a limit has refused against its key; the one that fills the measure begins a ban. */
export function strike(conduct: Conduct, perMinute: number, nowMs: number): void {
  const { strikes } = conduct;
  const inThisMs = strikes.get(nowMs);
  if (inThisMs === undefined) forgetOldStrikes(conduct, nowMs);
  strikes.set(nowMs, (inThisMs ?? 0) + 1);
  conduct.strikeCount += 1;
  if (conduct.strikeCount >= Math.max(strikesMin, perMinute)) beginBan(conduct, nowMs);
}

function forgetOldStrikes(conduct: Conduct, nowMs: number): void {
  for (const [atMs, count] of conduct.strikes) {
    const isRecent = atMs > nowMs - strikesMs && atMs <= nowMs;
    if (isRecent) return;
    conduct.strikes.delete(atMs);
    conduct.strikeCount -= count;
  }
}

function beginBan(conduct: Conduct, nowMs: number): void {
  const isRepeated = conduct.banMs > 0 && nowMs < conduct.banAtMs + ladderMs;
  conduct.banMs = isRepeated ? Math.min(2 * conduct.banMs, banMsMax) : banMsMin;
  conduct.banAtMs = nowMs;
  conduct.strikes.clear();
  conduct.strikeCount = 0;
}

/** From when on nothing is left to hold against the key. */
export function forgetAtMs({ banAtMs, banMs, strikes }: Conduct): number {
  let lastStrikeAtMs = Number.NEGATIVE_INFINITY;
  for (const atMs of strikes.keys()) lastStrikeAtMs = atMs;
  return Math.max(banMs > 0 ? banAtMs + ladderMs : 0, lastStrikeAtMs + strikesMs);
}
