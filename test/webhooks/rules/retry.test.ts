import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planWaitMs, readRetryAfterMs } from '../../../src/webhooks/rules/retry.ts';

test('the waits between retries grow as documented, up to half an hour', () => {
  for (const [index, seconds] of [5, 30, 120, 600, 1_800, 1_800, 1_800].entries())
    for (const [random, thousandths] of [
      [0, 900],
      [0.5, 1_000],
      [1, 1_100],
    ] as const)
      assert.equal(planWaitMs(index + 1, random, null), seconds * thousandths);
  assert.equal(planWaitMs(10_000, 0.5, null), 1_800_000);
});

test('a longer Retry-After is followed up to an hour, a shorter one is ignored', () => {
  assert.equal(planWaitMs(1, 0.5, 5_001), 5_001);
  assert.equal(planWaitMs(1, 0.5, 4_999), 5_000);
  assert.equal(planWaitMs(1, 0.5, 3_600_000), 3_600_000);
  assert.equal(planWaitMs(1, 0.5, 3_600_001), 3_600_000);
  assert.equal(planWaitMs(5, 1, 1_900_000), 1_980_000);
});

const nowMs = Date.UTC(2027, 0, 2, 12);

test('Retry-After may be whole seconds or a date', () => {
  assert.equal(readRetryAfterMs('90', nowMs), 90_000);
  assert.equal(readRetryAfterMs('0', nowMs), 0);
  assert.equal(readRetryAfterMs('Sat, 02 Jan 2027 12:01:00 GMT', nowMs), 60_000);
  assert.equal(readRetryAfterMs('Sat, 02 Jan 2027 11:00:00 GMT', nowMs), 0);
});

test('a Retry-After that is neither whole seconds nor a date is ignored', () => {
  for (const text of [undefined, '', 'soon', '-1', '1.5', '1e3', '2027-01-03', '9999999999', 'x GMT'])
    assert.equal(readRetryAfterMs(text, nowMs), null, String(text));
});
