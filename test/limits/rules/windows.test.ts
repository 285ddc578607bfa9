import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayMs, hourMs, minuteMs } from '../../../src/clock.ts';
import { areEnded, closeEnded, newWindows, takeFromBoth } from '../../../src/limits/rules/windows.ts';

const nowMs = Date.UTC(2027, 0, 2);
const limits = { perMinute: 2, perDay: 3 };

/** Returns windows that `count` requests have opened now. */
function openWindows(count: number) {
  const windows = newWindows();
  for (let taken = 0; taken < count; taken += 1) assert.ok(takeFromBoth(windows, limits, nowMs));
  return windows;
}

describe('a request', () => {
  test('opens both windows if it is the first, and otherwise keeps their ends', () => {
    const windows = openWindows(1);
    assert.deepEqual(windows, {
      minuteUsed: 1,
      minuteEndsAtMs: nowMs + minuteMs,
      dayUsed: 1,
      dayEndsAtMs: nowMs + dayMs,
    });
    assert.ok(takeFromBoth(windows, limits, nowMs + 1));
    assert.deepEqual(windows, {
      minuteUsed: 2,
      minuteEndsAtMs: nowMs + minuteMs,
      dayUsed: 2,
      dayEndsAtMs: nowMs + dayMs,
    });
  });

  test('counts in no window if the minute window is used up', () => {
    const windows = openWindows(2);
    const before = { ...windows };
    assert.equal(takeFromBoth(windows, limits, nowMs + minuteMs - 1), false);
    assert.deepEqual(windows, before);
  });

  test('counts in no window if the day window is used up', () => {
    const windows = openWindows(2);
    assert.ok(takeFromBoth(windows, limits, nowMs + minuteMs));
    assert.equal(takeFromBoth(windows, limits, nowMs + 2 * minuteMs), false);
    assert.deepEqual(windows, {
      minuteUsed: 0,
      minuteEndsAtMs: 0,
      dayUsed: 3,
      dayEndsAtMs: nowMs + dayMs,
    });
    assert.ok(takeFromBoth(windows, limits, nowMs + dayMs));
  });
});

describe('a window', () => {
  test('is open until the millisecond before its end', () => {
    const windows = openWindows(1);
    closeEnded(windows, nowMs + minuteMs - 1);
    assert.equal(windows.minuteUsed, 1);
    closeEnded(windows, nowMs + minuteMs);
    assert.deepEqual([windows.minuteUsed, windows.minuteEndsAtMs, windows.dayUsed], [0, 0, 1]);
    closeEnded(windows, nowMs + dayMs - 1);
    assert.equal(windows.dayUsed, 1);
    closeEnded(windows, nowMs + dayMs);
    assert.deepEqual(windows, newWindows());
  });

  test('keeps its end if the clock was not set back', () => {
    const windows = openWindows(1);
    closeEnded(windows, nowMs);
    assert.deepEqual([windows.minuteEndsAtMs, windows.dayEndsAtMs], [nowMs + minuteMs, nowMs + dayMs]);
  });

  test('ends at most its whole length from now if the clock was set back', () => {
    const windows = openWindows(1);
    closeEnded(windows, nowMs - hourMs);
    assert.deepEqual(windows, {
      minuteUsed: 1,
      minuteEndsAtMs: nowMs - hourMs + minuteMs,
      dayUsed: 1,
      dayEndsAtMs: nowMs - hourMs + dayMs,
    });
  });
});

test('windows may be deleted once both have ended', () => {
  assert.equal(areEnded(newWindows(), nowMs), true);
  const windows = openWindows(1);
  assert.equal(areEnded(windows, nowMs + minuteMs), false);
  assert.equal(areEnded(windows, nowMs + dayMs - 1), false);
  assert.equal(areEnded(windows, nowMs + dayMs), true);
  assert.equal(areEnded({ ...windows, minuteEndsAtMs: nowMs + dayMs }, nowMs + dayMs), true);
  assert.equal(areEnded({ ...windows, minuteEndsAtMs: nowMs + 2 * dayMs }, nowMs + dayMs), false);
});
