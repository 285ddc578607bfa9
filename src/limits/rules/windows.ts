import { dayMs, minuteMs } from '../../clock.ts';
import type { Limits } from '../../plans/plan.ts';

/** The request counts of one subject. A window that is not open has 0 used and 0 as its end. */
export interface Windows {
  minuteUsed: number;
  minuteEndsAtMs: number;
  dayUsed: number;
  dayEndsAtMs: number;
}

/** Returns two windows that are not open. */
export function newWindows(): Windows {
  return { minuteUsed: 0, minuteEndsAtMs: 0, dayUsed: 0, dayEndsAtMs: 0 };
}

/** Counts a request in both windows if both have room. Otherwise counts it in neither and returns false. */
export function takeFromBoth(windows: Windows, { perMinute, perDay }: Limits, nowMs: number): boolean {
  closeEnded(windows, nowMs);
  if (windows.minuteUsed >= perMinute || windows.dayUsed >= perDay) return false;
  if (windows.minuteUsed === 0) windows.minuteEndsAtMs = nowMs + minuteMs;
  if (windows.dayUsed === 0) windows.dayEndsAtMs = nowMs + dayMs;
  windows.minuteUsed += 1;
  windows.dayUsed += 1;
  return true;
}

/** Closes the windows that have ended. If the clock was set back, an open window ends one full length from now. */
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

/** Closes the windows that began at `atMs` or before. */
export function resetWindows(windows: Windows, atMs: number): void {
  if (windows.minuteEndsAtMs - minuteMs <= atMs) {
    windows.minuteUsed = 0;
    windows.minuteEndsAtMs = 0;
  }
  if (windows.dayEndsAtMs - dayMs <= atMs) {
    windows.dayUsed = 0;
    windows.dayEndsAtMs = 0;
  }
}

/** True if both windows have ended and may be deleted. */
export function areEnded(windows: Windows, nowMs: number): boolean {
  return windows.minuteEndsAtMs <= nowMs && windows.dayEndsAtMs <= nowMs;
}
