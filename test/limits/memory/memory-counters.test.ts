import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayMs, minuteMs } from '../../../src/clock.ts';
import { addressesMax } from '../../../src/limits/counters.ts';
import { sweptEntriesMax } from '../../../src/limits/memory/ledger.ts';
import { createMemoryCounters } from '../../../src/limits/memory/memory-counters.ts';
import { freeLimits } from '../../../src/plans/plan.ts';

const nowMs = Date.UTC(2027, 0, 2);

test('a million new addresses take bounded memory and do not affect requests with a key', () => {
  const counters = createMemoryCounters();
  for (let stranger = 0; stranger < 1_000_000; stranger += 1)
    counters.take(`address:stranger-${stranger}`, freeLimits, null, nowMs);
  assert.equal(counters.ledgers.addresses.size, addressesMax);
  assert.equal(counters.look('address:stranger-0', nowMs).dayUsed, 0);
  assert.equal(counters.look('address:stranger-999999', nowMs).dayUsed, 1);
  assert.equal(counters.take('account:1', freeLimits, 'key', nowMs).verdict, 'passed');
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

  test('deletes a key a minute after its first refusal, and a banned key a day after the start of its ban', () => {
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
