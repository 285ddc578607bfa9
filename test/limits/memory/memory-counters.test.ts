import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs, minuteMs, secondMs } from '../../../src/clock.ts';
import { addressesMax } from '../../../src/limits/counters.ts';
import { createMemoryCounters } from '../../../src/limits/memory/memory-counters.ts';
import { freeLimits } from '../../../src/plans/plan.ts';

const nowMs = Date.UTC(2027, 0, 2);

test('a million new addresses take bounded memory and do not affect requests with a key', () => {
  const counters = createMemoryCounters();
  for (let stranger = 0; stranger < 1_000_000; stranger += 1)
    counters.take(`address:stranger-${stranger}`, freeLimits, null, nowMs);
  assert.equal(counters.windows.addresses.size, addressesMax);
  assert.equal(counters.look('address:stranger-0', nowMs).day.used, 0);
  assert.equal(counters.look('address:stranger-999999', nowMs).day.used, 1);
  assert.equal(counters.take('account:1', freeLimits, 'key', nowMs).verdict, 'passed');
});

test('a key takes memory only while its refusals or its ban have an effect', () => {
  const counters = createMemoryCounters();
  const limits = { perMinute: 1, perDay: 1 };
  for (const [keyId, count, atMs] of [
    ['refused', 2, nowMs],
    ['refused later', 2, nowMs + secondMs],
    ['banned', 61, nowMs],
  ] as const)
    for (let sent = 0; sent < count; sent += 1) counters.take(`account:${keyId}`, limits, keyId, atMs);
  for (const [atMs, known] of [
    [minuteMs - 1, ['refused', 'refused later', 'banned']],
    [minuteMs, ['refused later', 'banned']],
    [dayMs - 1, ['banned']],
    [dayMs, []],
  ] as const) {
    counters.sweep(nowMs + atMs);
    assert.deepEqual([...counters.keys.keys()], known);
  }
});
