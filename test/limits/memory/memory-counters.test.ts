import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayMs, hourMs, minuteMs } from '../../../src/clock.ts';
import { sweptEntriesMax } from '../../../src/limits/memory/ledger.ts';
import { addressesMax, createMemoryCounters } from '../../../src/limits/memory/memory-counters.ts';
import { freeLimits } from '../../../src/plans/plan.ts';

const nowMs = Date.UTC(2027, 0, 2);

describe('addresses beyond the bound', () => {
  const strangers = 1_000_000;
  const counters = createMemoryCounters();
  const { addresses } = counters.ledgers;
  const first = 'address:192.0.2.1';
  const takeFrom = (address: string, atMs = nowMs) => counters.take(address, freeLimits, null, atMs);

  for (let sent = 0; sent < 40; sent += 1) takeFrom(first);
  let passed = 0;
  for (let stranger = 0; stranger < strangers; stranger += 1)
    if (takeFrom(`address:stranger-${stranger}`).verdict === 'passed') passed += 1;

  test('a million new addresses take bounded memory', () => {
    assert.equal(addresses.size, addressesMax);
  });

  test('they share the limits of one address', () => {
    assert.equal(passed, addressesMax - 1 + freeLimits.perMinute);
  });

  test('they do not evict an address that has counted requests', () => {
    assert.equal(takeFrom(first).minuteUsed, 41);
    assert.equal(takeFrom('address:stranger-0').minuteUsed, 2);
  });

  test('peek returns their shared count', () => {
    assert.equal(counters.peek('address:stranger-999999', nowMs).minuteUsed, freeLimits.perMinute);
  });

  test('they do not affect requests with a key', () => {
    assert.equal(counters.take('account:1', freeLimits, 'key', nowMs).verdict, 'passed');
  });

  test('an hour later a million other addresses get their own counts in the same memory', () => {
    for (let newcomer = 0; newcomer < addressesMax; newcomer += 1)
      assert.equal(takeFrom(`address:newcomer-${newcomer}`, nowMs + hourMs).dayUsed, 1);
    assert.equal(addresses.size, addressesMax);
    assert.equal(takeFrom('address:newcomer-0', nowMs + hourMs).dayUsed, 2);
  });

  test('an address whose day window opened again is not evicted first', () => {
    const small = createMemoryCounters({ addressesMax: 2 });
    const take = (name: string, atMs: number) =>
      small.take(`address:${name}`, freeLimits, null, nowMs + atMs).dayUsed;
    take('old', 0);
    take('young', 1);
    take('old', dayMs);
    assert.equal(take('newcomer', dayMs), 1);
    assert.deepEqual([small.ledgers.addresses.size, take('old', dayMs)], [2, 2]);
  });
});

describe('sweeping', () => {
  test('deletes a bounded number of expired entries in each call', () => {
    const counters = createMemoryCounters();
    const { accounts } = counters.ledgers;
    for (let id = 0; id < 25_000; id += 1) counters.take(`account:${id}`, freeLimits, 'key', nowMs);
    const sizes = [1, 2, 3].map(() => {
      accounts.sweep(nowMs + dayMs);
      return accounts.size;
    });
    assert.deepEqual(sizes, [25_000 - sweptEntriesMax, 25_000 - 2 * sweptEntriesMax, 0]);
  });

  test('keeps entries with an open window', () => {
    const counters = createMemoryCounters();
    const { accounts } = counters.ledgers;
    counters.take('account:1', freeLimits, 'key', nowMs);
    counters.take('account:1', freeLimits, 'key', nowMs + dayMs - 1);
    accounts.sweep(nowMs + dayMs);
    assert.equal(counters.take('account:1', freeLimits, 'key', nowMs + dayMs).minuteUsed, 2);
  });

  test('reaches every entry, including entries that are added during the sweep', () => {
    const counters = createMemoryCounters();
    const { accounts } = counters.ledgers;
    for (let id = 0; id < 15_000; id += 1) counters.take(`account:${id}`, freeLimits, 'key', nowMs);
    accounts.sweep(nowMs);
    for (let id = 15_000; id < 30_000; id += 1) counters.take(`account:${id}`, freeLimits, 'key', nowMs);
    for (let call = 0; call < 5; call += 1) accounts.sweep(nowMs + dayMs);
    assert.equal(accounts.size, 0);
  });

  test('deletes a key a minute after its last refusal, and a banned key a day after the start of its ban', () => {
    const counters = createMemoryCounters();
    const { keys } = counters.ledgers;
    const once = { perMinute: 1, perDay: 1 };
    for (let sent = 0; sent < 61; sent += 1) counters.take('account:1', once, 'banned', nowMs);
    counters.take('account:1', once, 'refused', nowMs);
    const sizes = [minuteMs - 1, minuteMs, dayMs - 1, dayMs].map((atMs) => {
      keys.sweep(nowMs + atMs);
      keys.sweep(nowMs + atMs);
      return keys.size;
    });
    assert.deepEqual(sizes, [2, 1, 1, 0]);
  });
});

test('a key of any plan has at most one entry per millisecond of a minute', () => {
  const counters = createMemoryCounters();
  const limits = { perMinute: 1_000_000, perDay: 1 };
  counters.take('account:1', limits, 'key', nowMs);
  for (let sent = 0; sent < 200_000; sent += 1)
    counters.take('account:1', limits, 'key', nowMs + Math.floor(sent / 100));
  assert.equal(counters.ledgers.keys.get('key')?.strikes.size, 2_000);
});
