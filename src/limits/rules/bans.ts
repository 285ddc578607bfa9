import { dayMs, hourMs, minuteMs } from '../../clock.ts';

/** The time in which refused requests count. As many as the plan allows per minute begin a ban. */
export const strikesMs = minuteMs;
/** The fewest refused requests that begin a ban, whatever the plan allows per minute. */
export const strikesMin = 60;
/** The length of a first ban. */
export const banMsMin = minuteMs;
/** The longest ban, however often it doubled. */
export const banMsMax = hourMs;
/** A ban that begins within this time after the start of the key's last ban lasts twice as long. */
export const ladderMs = dayMs;

/** The conduct of one key: its newest ban, and its refused requests since (contract section 6). */
export interface Conduct {
  /** The start of its newest ban; 0 if it was never banned. */
  banAtMs: number;
  /** The length of that ban; 0 if there was none. */
  banMs: number;
  /**
   * The number of refused requests by millisecond, in the order of time. Exact, with at most 60,000 entries whatever
   * the plan.
   */
  readonly strikes: Map<number, number>;
  /** The total number of these requests. */
  strikeCount: number;
}

/** The conduct of a key without strikes or bans. */
export function newConduct(): Conduct {
  return { banAtMs: 0, banMs: 0, strikes: new Map(), strikeCount: 0 };
}

/** The end of the current ban; 0 if there is none. If the clock was set back, the ban restarts at most. */
export function bannedUntilMs(conduct: Conduct, nowMs: number): number {
  if (conduct.banAtMs > nowMs) conduct.banAtMs = nowMs;
  const endsAtMs = conduct.banAtMs + conduct.banMs;
  return endsAtMs > nowMs ? endsAtMs : 0;
}

/** Adds a refused request as a strike. The last strike that the plan allows begins a ban. */
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

/** When the conduct may be forgotten: it no longer has any effect. */
export function forgetAtMs({ banAtMs, banMs, strikes }: Conduct): number {
  let lastStrikeAtMs = Number.NEGATIVE_INFINITY;
  for (const atMs of strikes.keys()) lastStrikeAtMs = atMs;
  return Math.max(banMs > 0 ? banAtMs + ladderMs : 0, lastStrikeAtMs + strikesMs);
}
