import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  banMsMax,
  banMsMin,
  bannedUntilMs,
  forgetAtMs,
  forgive,
  ladderMs,
  newConduct,
  strike,
  strikesForBan,
  strikesMs,
} from '../../../src/limits/rules/bans.ts';

const nowMs = 1_000_000;

/** A conduct with a ban that began at `banAtMs`. */
const banned = (banAtMs: number, banMs = banMsMin) => ({ ...newConduct(), banAtMs, banMs });

/** A conduct with two refused requests, in the window that ends at `strikesEndAtMs`. */
const struck = (strikesEndAtMs: number) => ({ ...newConduct(), strikes: 2, strikesEndAtMs });

test('a new conduct has no ban and no refused requests', () => {
  assert.deepEqual(newConduct(), { banAtMs: 0, banMs: 0, strikes: 0, strikesEndAtMs: 0 });
});

test('a key is banned by the number of refused requests in one window, at least 60', () => {
  assert.deepEqual([strikesForBan(5), strikesForBan(60), strikesForBan(61)], [60, 60, 61]);
  const conduct = newConduct();
  for (let count = 1; count < 60; count += 1) strike(conduct, 5, nowMs);
  assert.deepEqual(conduct, { banAtMs: 0, banMs: 0, strikes: 59, strikesEndAtMs: nowMs + strikesMs });
  strike(conduct, 5, nowMs + 1);
  assert.deepEqual(conduct, banned(nowMs + 1));
});

test('a refused request after the window opens a new one', () => {
  for (const [endsAtMs, strikes] of [
    [nowMs, 1],
    [nowMs + 1, 3],
    [nowMs + strikesMs, 3],
    [nowMs + strikesMs + 1, 1],
  ] as const) {
    const conduct = struck(endsAtMs);
    strike(conduct, 5, nowMs);
    assert.equal(conduct.strikes, strikes, String(endsAtMs - nowMs));
  }
});

test('a ban within a day of the one before lasts twice as long, up to an hour', () => {
  for (const [atMs, banMs, nextMs] of [
    [nowMs + ladderMs - 1, banMsMin, 2 * banMsMin],
    [nowMs + ladderMs, banMsMin, banMsMin],
    [nowMs + ladderMs - 1, banMsMax, banMsMax],
    [nowMs + ladderMs - 1, 0, banMsMin],
  ] as const) {
    const conduct = { ...banned(nowMs, banMs), strikes: 59, strikesEndAtMs: atMs + 1 };
    strike(conduct, 5, atMs);
    assert.deepEqual(conduct, banned(atMs, nextMs));
  }
});

test('a ban ends at its end, and begins at most now', () => {
  assert.equal(bannedUntilMs(banned(nowMs), nowMs + banMsMin - 1), nowMs + banMsMin);
  assert.equal(bannedUntilMs(banned(nowMs), nowMs + banMsMin), 0);
  const conduct = banned(nowMs + 5);
  assert.equal(bannedUntilMs(conduct, nowMs), nowMs + banMsMin);
  assert.equal(conduct.banAtMs, nowMs);
});

test('a conduct is forgotten when neither its ban nor its window has an effect', () => {
  assert.equal(forgetAtMs(newConduct()), 0);
  assert.equal(forgetAtMs({ ...newConduct(), banAtMs: nowMs }), 0);
  assert.equal(forgetAtMs(banned(nowMs)), nowMs + ladderMs);
  assert.equal(forgetAtMs(struck(nowMs + 7)), nowMs + 7);
  assert.equal(forgetAtMs({ ...banned(nowMs), strikesEndAtMs: nowMs + 7 }), nowMs + ladderMs);
});

test('forgiving forgets the ban and the window that began at the time or before', () => {
  const both = (banAtMs: number, endsAtMs: number) => ({
    ...banned(banAtMs),
    ...struck(endsAtMs),
    banAtMs,
    banMs: banMsMin,
  });
  for (const [conduct, isForgiven, left] of [
    [newConduct(), false, newConduct()],
    [{ ...newConduct(), banAtMs: nowMs }, false, { ...newConduct(), banAtMs: nowMs }],
    [banned(nowMs), true, newConduct()],
    [banned(nowMs + 1), false, banned(nowMs + 1)],
    [struck(nowMs + strikesMs), true, newConduct()],
    [struck(nowMs + strikesMs + 1), false, struck(nowMs + strikesMs + 1)],
    [{ ...newConduct(), strikesEndAtMs: nowMs }, false, { ...newConduct(), strikesEndAtMs: nowMs }],
    [both(nowMs, nowMs + strikesMs), true, newConduct()],
    [both(nowMs + 1, nowMs + strikesMs), true, banned(nowMs + 1)],
    [both(nowMs, nowMs + strikesMs + 1), true, struck(nowMs + strikesMs + 1)],
  ] as const) {
    const given = { ...conduct };
    assert.equal(forgive(given, nowMs), isForgiven, JSON.stringify(conduct));
    assert.deepEqual(given, left, JSON.stringify(conduct));
  }
});
