import { dayMs, hourMs, minuteMs } from '../../clock.ts';

// When a ban of a key begins and ends. `limits/bans.ts` lists and lifts the bans of a store.

/** Time in ms for which the refused requests of a key are counted. The first of them opens this window. */
export const strikesMs = minuteMs;
/** Duration of a first ban. */
export const banMsMin = minuteMs;
/** Maximum duration of a ban. */
export const banMsMax = hourMs;
/** Time in ms after the start of a ban within which the next ban lasts twice as long. */
export const ladderMs = dayMs;

/** The number of refused requests in one window that ban a key. `perMinute` is the limit of its plan. */
export const strikesForBan = (perMinute: number): number => Math.max(60, perMinute);

/** The newest ban of a key, and its window of refused requests. Without a ban or an open window, its numbers are 0. */
export interface Conduct {
  banAtMs: number;
  banMs: number;
  strikes: number;
  strikesEndAtMs: number;
}

/** The conduct of a key without strikes or bans. */
export function newConduct(): Conduct {
  return { banAtMs: 0, banMs: 0, strikes: 0, strikesEndAtMs: 0 };
}

/** Returns when the current ban expires; 0 if there is none. If the clock was set back, the ban starts at most now. */
export function bannedUntilMs(conduct: Conduct, nowMs: number): number {
  if (conduct.banAtMs > nowMs) conduct.banAtMs = nowMs;
  const endsAtMs = conduct.banAtMs + conduct.banMs;
  return endsAtMs > nowMs ? endsAtMs : 0;
}

/** Counts a refused request of a key. The request may begin a ban. `perMinute` is the limit of the key's plan. */
export function strike(conduct: Conduct, perMinute: number, nowMs: number): void {
  // If the clock was set back, the end of the window may be too far away.
  const isOpen = conduct.strikesEndAtMs > nowMs && conduct.strikesEndAtMs <= nowMs + strikesMs;
  conduct.strikes = isOpen ? conduct.strikes + 1 : 1;
  if (!isOpen) conduct.strikesEndAtMs = nowMs + strikesMs;
  if (conduct.strikes >= strikesForBan(perMinute)) beginBan(conduct, nowMs);
}

function beginBan(conduct: Conduct, nowMs: number): void {
  const isRepeated = conduct.banMs > 0 && nowMs < conduct.banAtMs + ladderMs;
  conduct.banMs = isRepeated ? Math.min(2 * conduct.banMs, banMsMax) : banMsMin;
  conduct.banAtMs = nowMs;
  conduct.strikes = 0;
  conduct.strikesEndAtMs = 0;
}

/** Returns the time from which the conduct has no effect and may be deleted. */
export function forgetAtMs({ banAtMs, banMs, strikesEndAtMs }: Conduct): number {
  return Math.max(banMs > 0 ? banAtMs + ladderMs : 0, strikesEndAtMs);
}

/** Forgets the ban and the window of refused requests that began at `atMs` or before. Returns false if there are none. */
export function forgive(conduct: Conduct, atMs: number): boolean {
  const hasBan = conduct.banMs > 0 && conduct.banAtMs <= atMs;
  const hasStrikes = conduct.strikes > 0 && conduct.strikesEndAtMs - strikesMs <= atMs;
  if (hasBan) Object.assign(conduct, { banAtMs: 0, banMs: 0 });
  if (hasStrikes) Object.assign(conduct, { strikes: 0, strikesEndAtMs: 0 });
  return hasBan || hasStrikes;
}
