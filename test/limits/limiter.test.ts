import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minuteMs } from '../../src/clock.ts';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import type { Decision } from '../../src/limits/rules/decision.ts';
import { readHeader } from '../support/expect-error.ts';

test('findRefusal returns the refusal of takeForAddress without a count', () => {
  let nowMs = Date.UTC(2027, 0, 2, 12) + 123;
  const limiter = createLimiter({ counters: createMemoryCounters(), clock: () => nowMs });
  for (let sent = 1; sent <= 1_000; sent += 1) {
    assert.equal(limiter.findRefusal('192.0.2.7'), null);
    limiter.takeForAddress('192.0.2.7');
    if (sent % 60 !== 0 && sent < 1_000) continue;
    if (sent === 1_000) nowMs += minuteMs;
    const refusal = limiter.findRefusal('192.0.2.7') as Decision;
    assert.deepEqual(refusal, limiter.takeForAddress('192.0.2.7'));
    assert.equal(readHeader(refusal.headers, 'x-ratelimit-limit'), sent < 1_000 ? '60' : '1000');
    nowMs += minuteMs;
  }
});
