import { dayMs, minuteMs } from '../../clock.ts';
import type { Limits } from '../../plans/plan.ts';

/** The requests that a window has counted, and when it ends. A window that is not open has 0 used and 0 as its end. */
export interface Window {
  readonly used: number;
  readonly endsAtMs: number;
}

/** The windows of one subject. */
export interface Windows {
  minute: Window;
  day: Window;
}

const unopened: Window = { used: 0, endsAtMs: 0 };

/** Returns two windows that are not open. */
export function newWindows(): Windows {
  return { minute: unopened, day: unopened };
}

/** Counts a request in both windows if both have room. Otherwise counts it in neither and returns false. */
export function takeFromBoth(windows: Windows, { perMinute, perDay }: Limits, nowMs: number): boolean {
  closeEnded(windows, nowMs);
  const { minute, day } = windows;
  if (minute.used >= perMinute || day.used >= perDay) return false;
  windows.minute = count(minute, nowMs + minuteMs);
  windows.day = count(day, nowMs + dayMs);
  return true;
}

function count({ used, endsAtMs }: Window, endMsIfNew: number): Window {
  return { used: used + 1, endsAtMs: used === 0 ? endMsIfNew : endsAtMs };
}

/** Closes the windows that have ended. If the clock was set back, an open window ends one full length from now. */
export function closeEnded(windows: Windows, nowMs: number): void {
  windows.minute = closeIfEnded(windows.minute, nowMs, nowMs + minuteMs);
  windows.day = closeIfEnded(windows.day, nowMs, nowMs + dayMs);
}

function closeIfEnded(window: Window, nowMs: number, endMsMax: number): Window {
  if (window.endsAtMs <= nowMs) return unopened;
  return window.endsAtMs <= endMsMax ? window : { ...window, endsAtMs: endMsMax };
}

/** Closes the windows that began at `atMs` or before. */
export function resetWindows(windows: Windows, atMs: number): void {
  if (windows.minute.endsAtMs - minuteMs <= atMs) windows.minute = unopened;
  if (windows.day.endsAtMs - dayMs <= atMs) windows.day = unopened;
}
