import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressesMax } from '../../../src/limits/counters.ts';
import { createMemoryCounters } from '../../../src/limits/memory/memory-counters.ts';
import { freeLimits } from '../../../src/plans/plan.ts';

const nowMs = Date.UTC(2027, 0, 2);

test('a million new addresses take bounded memory and do not affect requests with a key', () => {
  const counters = createMemoryCounters();
  for (let stranger = 0; stranger < 1_000_000; stranger += 1)
    counters.take(`address:stranger-${stranger}`, freeLimits, null, nowMs);
  assert.equal(counters.windows.addresses.size, addressesMax);
  assert.equal(counters.look('address:stranger-0', nowMs).dayUsed, 0);
  assert.equal(counters.look('address:stranger-999999', nowMs).dayUsed, 1);
  assert.equal(counters.take('account:1', freeLimits, 'key', nowMs).verdict, 'passed');
});
