import { dayMs, hourMs, minuteMs } from '../../clock.ts';
import type { Limits } from '../../plans/plan.ts';

/**
 * The counted requests of one subject (contract section 6). A window opens with its first request and ends exactly a
 * minute or a day later. A window that is not open has 0 used and ends at 0.
 */
export interface Windows {
  minuteUsed: number;
  minuteEndsAtMs: number;
  dayUsed: number;
  dayEndsAtMs: number;
}

/** Two windows that are not open. */
export function newWindows(): Windows {
  return { minuteUsed: 0, minuteEndsAtMs: 0, dayUsed: 0, dayEndsAtMs: 0 };
}

/** Counts a request in both windows if both have room, else in neither. Returns whether it was counted. */
export function takeFromBoth(windows: Windows, { perMinute, perDay }: Limits, nowMs: number): boolean {
  closeEnded(windows, nowMs);
  if (windows.minuteUsed >= perMinute || windows.dayUsed >= perDay) return false;
  if (windows.minuteUsed === 0) windows.minuteEndsAtMs = nowMs + minuteMs;
  if (windows.dayUsed === 0) windows.dayEndsAtMs = nowMs + dayMs;
  windows.minuteUsed += 1;
  windows.dayUsed += 1;
  return true;
}

/**
 * Closes the windows that have ended. If the clock was set back, an open window ends at most its full length from
 * now. So nobody waits for the clock to catch up.
 */
export function closeEnded(windows: Windows, nowMs: number): void {
  if (windows.minuteEndsAtMs <= nowMs) {
    windows.minuteUsed = 0;
    windows.minuteEndsAtMs = 0;
  } else if (windows.minuteEndsAtMs > nowMs + minuteMs) windows.minuteEndsAtMs = nowMs + minuteMs;
  if (windows.dayEndsAtMs <= nowMs) {
    windows.dayUsed = 0;
    windows.dayEndsAtMs = 0;
  } else if (windows.dayEndsAtMs > nowMs + dayMs) windows.dayEndsAtMs = nowMs + dayMs;
}

/** Whether both windows have ended and may be forgotten. */
export function areEnded(windows: Windows, nowMs: number): boolean {
  return windows.minuteEndsAtMs <= nowMs && windows.dayEndsAtMs <= nowMs;
}

/** How long an address keeps its own count at least, however many others come. */
export const ownCountMsMin = hourMs;

/** Whether an address may give up its place when all are taken: its day opened at least an hour ago. */
export function mayMakeRoom(windows: Windows, nowMs: number): boolean {
  return windows.dayEndsAtMs <= nowMs + dayMs - ownCountMsMin;
}

/** Closes the windows that addresses without a place share. They last a minute; the day ends with it. */
export function closeShared(windows: Windows, nowMs: number): void {
  closeEnded(windows, nowMs);
  if (windows.minuteUsed === 0) Object.assign(windows, newWindows());
}
