import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minuteMs } from '../../src/clock.ts';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import type { Decision } from '../../src/limits/rules/decision.ts';
import { readHeader } from '../support/expect-error.ts';

/** Creates a limiter with a clock that the test moves. */
function open() {
  const time = { nowMs: Date.UTC(2027, 0, 2, 12) + 123 };
  return { time, limiter: createLimiter({ counters: createMemoryCounters(), clock: () => time.nowMs }) };
}

test('findRefusal returns a 429 once a window of an address is used up, and counts nothing', () => {
  const { time, limiter } = open();
  for (let sent = 1; sent <= 1_000; sent += 1) {
    if (sent % 60 === 0) assert.equal(limiter.findRefusal('192.0.2.7'), null);
    limiter.takeForAddress('192.0.2.7');
    if (sent % 60 !== 0) continue;
    const refusal = limiter.findRefusal('192.0.2.7') as Decision;
    assert.deepEqual(refusal, limiter.takeForAddress('192.0.2.7'));
    assert.equal(readHeader(refusal.headers, 'x-ratelimit-limit'), '60');
    time.nowMs += minuteMs;
  }
  time.nowMs += minuteMs;
  const refusal = limiter.findRefusal('192.0.2.7') as Decision;
  assert.deepEqual(
    [refusal.code, readHeader(refusal.headers, 'x-ratelimit-limit')],
    ['rate_limit_exceeded', '1000'],
  );
});
