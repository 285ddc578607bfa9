import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../src/clock.ts';
import {
  bannedUntilMs,
  type Conduct,
  forgetAtMs,
  newConduct,
  strike,
} from '../../../src/limits/rules/bans.ts';

const nowMs = Date.UTC(2027, 0, 2);

function strikeOften(conduct: Conduct, count: number, atMs: number, perMinute = 60): void {
  for (let refused = 0; refused < count; refused += 1) strike(conduct, perMinute, atMs);
}

/** Bans a key at a time. Returns the length of the ban in ms. */
function banAt(conduct: Conduct, atMs: number): number {
  strikeOften(conduct, 60, atMs);
  return bannedUntilMs(conduct, atMs) - atMs;
}

describe('a ban', () => {
  test('begins with the 60th refused request if the plan allows fewer than 60 requests a minute', () => {
    const conduct = newConduct();
    strikeOften(conduct, 59, nowMs, 10);
    assert.equal(bannedUntilMs(conduct, nowMs), 0);
    strikeOften(conduct, 1, nowMs, 10);
    assert.equal(bannedUntilMs(conduct, nowMs), nowMs + minuteMs);
  });

  test('begins after as many refused requests as the plan allows a minute, if these are more than 60', () => {
    const conduct = newConduct();
    strikeOften(conduct, 299, nowMs, 300);
    assert.equal(bannedUntilMs(conduct, nowMs), 0);
    strikeOften(conduct, 1, nowMs, 300);
    assert.equal(bannedUntilMs(conduct, nowMs), nowMs + minuteMs);
  });

  test('begins after refused requests in different milliseconds', () => {
    const conduct = newConduct();
    for (let ms = 0; ms < 60; ms += 1) {
      assert.equal(bannedUntilMs(conduct, nowMs + ms), 0);
      strike(conduct, 60, nowMs + ms);
    }
    assert.equal(bannedUntilMs(conduct, nowMs + 59), nowMs + 59 + minuteMs);
  });

  test('applies before its end, and not at its end', () => {
    const conduct = newConduct();
    assert.equal(banAt(conduct, nowMs), minuteMs);
    assert.equal(bannedUntilMs(conduct, nowMs + minuteMs - 1), nowMs + minuteMs);
    assert.equal(bannedUntilMs(conduct, nowMs + minuteMs), 0);
  });

  test('clears the refused requests, so that they do not count towards the next ban', () => {
    const conduct = newConduct();
    banAt(conduct, nowMs);
    assert.deepEqual([conduct.strikes, conduct.strikesEndAtMs], [0, 0]);
    strikeOften(conduct, 59, nowMs + minuteMs);
    assert.equal(bannedUntilMs(conduct, nowMs + minuteMs), 0);
  });

  test('is twice as long as the previous ban, up to an hour', () => {
    const conduct = newConduct();
    const lengths = Array.from({ length: 8 }, (_, hour) => banAt(conduct, nowMs + hour * hourMs) / minuteMs);
    assert.deepEqual(lengths, [1, 2, 4, 8, 16, 32, 60, 60]);
  });

  test('is twice as long only within a day of the start of the previous ban', () => {
    const conduct = newConduct();
    banAt(conduct, nowMs);
    assert.equal(banAt(conduct, nowMs + dayMs - 1), 2 * minuteMs);
    assert.equal(banAt(conduct, nowMs + 2 * dayMs - 1), minuteMs);
  });

  test('is a minute long the first time, even on the first day of the Unix epoch', () => {
    assert.equal(banAt(newConduct(), hourMs), minuteMs);
  });

  test('lasts at most its length from now if the clock was set back', () => {
    const conduct = newConduct();
    banAt(conduct, nowMs);
    const earlierMs = nowMs - hourMs;
    assert.equal(bannedUntilMs(conduct, earlierMs), earlierMs + minuteMs);
    assert.equal(bannedUntilMs(conduct, earlierMs + minuteMs), 0);
  });

  test('keeps its end as time passes', () => {
    const conduct = newConduct();
    banAt(conduct, nowMs);
    assert.equal(bannedUntilMs(conduct, nowMs + secondMs), nowMs + minuteMs);
  });
});

describe('the refused requests of a key', () => {
  test('are counted in a window of exactly 60 seconds, which the first of them opens', () => {
    const conduct = newConduct();
    strikeOften(conduct, 1, nowMs);
    strikeOften(conduct, 58, nowMs + minuteMs - 1);
    assert.deepEqual([conduct.strikes, conduct.strikesEndAtMs], [59, nowMs + minuteMs]);
    strikeOften(conduct, 1, nowMs + minuteMs);
    assert.deepEqual([conduct.strikes, conduct.strikesEndAtMs], [1, nowMs + 2 * minuteMs]);
  });

  test('do not count if the clock was set back after them', () => {
    const conduct = newConduct();
    strikeOften(conduct, 59, nowMs + hourMs);
    strikeOften(conduct, 1, nowMs);
    assert.deepEqual([conduct.banMs, conduct.strikes], [0, 1]);
  });

  test('count if the clock was set back by less than their window has lasted', () => {
    const conduct = newConduct();
    strikeOften(conduct, 1, nowMs);
    strikeOften(conduct, 1, nowMs + secondMs);
    strikeOften(conduct, 1, nowMs);
    assert.equal(conduct.strikes, 3);
  });
});

describe('the stored refusals and bans of a key', () => {
  test('are empty at first', () => {
    assert.equal(forgetAtMs(newConduct()), 0);
  });

  test('expire 60 seconds after the first refused request of the window', () => {
    const conduct = newConduct();
    strikeOften(conduct, 2, nowMs);
    strikeOften(conduct, 2, nowMs + secondMs);
    assert.equal(forgetAtMs(conduct), nowMs + minuteMs);
  });

  test('expire a day after the start of the newest ban', () => {
    const conduct = newConduct();
    banAt(conduct, nowMs);
    assert.equal(forgetAtMs(conduct), nowMs + dayMs);
    strikeOften(conduct, 1, nowMs + dayMs - secondMs);
    assert.equal(forgetAtMs(conduct), nowMs + dayMs - secondMs + minuteMs);
  });
});
