import { dayMs, hourMs, minuteMs } from '../../clock.ts';

/** Time in ms for which a refused request counts as a strike. */
export const strikesMs = minuteMs;
/** Minimum number of strikes for a ban, even if the plan allows fewer requests per minute. */
export const strikesMin = 60;
/** Duration of a first ban. */
export const banMsMin = minuteMs;
/** Maximum duration of a ban. */
export const banMsMax = hourMs;
/**
 * If a ban begins within this time after the start of the key's previous ban, the new ban lasts twice as long as the
 * previous ban.
 */
export const ladderMs = dayMs;

/** The newest ban of a key, and its refused requests since then (contract section 6). */
export interface Conduct {
  /** Start of the newest ban; 0 if the key was never banned. */
  banAtMs: number;
  /** Duration of the newest ban; 0 if the key was never banned. */
  banMs: number;
  /** Number of refused requests by millisecond, oldest first. At most 60,000 entries, one per ms of `strikesMs`. */
  readonly strikes: Map<number, number>;
  /** The sum of `strikes`. */
  strikeCount: number;
}

/** Returns the conduct of a key without strikes or bans. */
export function newConduct(): Conduct {
  return { banAtMs: 0, banMs: 0, strikes: new Map(), strikeCount: 0 };
}

/**
 * Returns when the current ban expires; 0 if there is none. If the clock was set back to before the start of the ban,
 * the ban starts again now.
 */
export function bannedUntilMs(conduct: Conduct, nowMs: number): number {
  if (conduct.banAtMs > nowMs) conduct.banAtMs = nowMs;
  const endsAtMs = conduct.banAtMs + conduct.banMs;
  return endsAtMs > nowMs ? endsAtMs : 0;
}

/** Adds a strike. A ban begins if the key then has `perMinute` strikes, or `strikesMin` if that is more. */
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

/** Returns the time from which the conduct has no effect and may be deleted. */
export function forgetAtMs({ banAtMs, banMs, strikes }: Conduct): number {
  let lastStrikeAtMs = Number.NEGATIVE_INFINITY;
  for (const atMs of strikes.keys()) lastStrikeAtMs = atMs;
  return Math.max(banMs > 0 ? banAtMs + ladderMs : 0, lastStrikeAtMs + strikesMs);
}
