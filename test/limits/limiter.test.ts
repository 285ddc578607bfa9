import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { minuteMs } from '../../src/clock.ts';
import type { Counters } from '../../src/limits/counters.ts';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import type { Decision } from '../../src/limits/rules/decision.ts';
import { freeLimits, type Limits } from '../../src/plans/plan.ts';

/** Creates a limiter with a key of one account and a clock that the test moves. */
function open(limits: Limits = freeLimits, counters: Counters = createMemoryCounters()) {
  const time = { nowMs: Date.UTC(2027, 0, 2, 12) + 123 };
  const limiter = createLimiter({ counters, clock: () => time.nowMs });
  const caller = { accountId: 2n ** 63n - 1n, accountName: 'Zoo', keyId: 'key', limits };

  function send(count: number): Decision[] {
    return Array.from({ length: count }, () => limiter.takeForKey(caller) as Decision);
  }
  return { time, limiter, caller, send };
}

function codes(decisions: readonly Decision[]) {
  return decisions.map(({ code }) => code);
}

describe('requests without a valid key', () => {
  test('are counted by address with the limits of Free', () => {
    const { limiter } = open({ perMinute: 1_000, perDay: 100_000 });
    const decisions = Array.from({ length: 61 }, () => limiter.takeForAddress('192.0.2.7') as Decision);
    assert.deepEqual(codes(decisions), [...Array(60).fill(null), 'rate_limit_exceeded']);
    assert.equal(decisions[0]?.headers['ratelimit-policy'], '"minute";q=60;w=60, "day";q=1000;w=86400');
    const { code } = limiter.takeForAddress('192.0.2.8') as Decision;
    assert.equal(code, null);
  });

  test('are neither counted nor refused if peekAddress reads the usage of their address', () => {
    const { limiter } = open();
    for (let sent = 0; sent < 61; sent += 1) limiter.takeForAddress('192.0.2.7');
    for (const [address, remaining] of [
      ['192.0.2.7', '0'],
      ['192.0.2.8', '60'],
      ['192.0.2.8', '60'],
    ] as const) {
      const { code, headers } = limiter.peekAddress(address) as Decision;
      assert.equal(code, null);
      assert.equal(headers['x-ratelimit-remaining'], remaining);
      assert.equal(headers['retry-after'], undefined);
    }
  });
});

test('findRefusal returns a 429 once the minute window of an address is used up, and counts nothing', () => {
  const { time, limiter } = open();
  for (let sent = 1; sent < 60; sent += 1) limiter.takeForAddress('192.0.2.7');
  assert.equal(limiter.findRefusal('192.0.2.7'), null);
  limiter.takeForAddress('192.0.2.7');
  const refusal = limiter.findRefusal('192.0.2.7');
  assert.deepEqual(refusal, limiter.takeForAddress('192.0.2.7'));
  time.nowMs += minuteMs;
  assert.equal(limiter.findRefusal('192.0.2.7'), null);
});

test('findRefusal returns a 429 once the day window of an address is used up', () => {
  const { time, limiter } = open();
  for (let sent = 0; sent < 1_000; sent += 1) {
    limiter.takeForAddress('192.0.2.7');
    if (sent % 60 === 59) time.nowMs += minuteMs;
  }
  time.nowMs += minuteMs;
  const refusal = limiter.findRefusal('192.0.2.7') as Decision;
  assert.deepEqual([refusal.code, refusal.headers['x-ratelimit-limit']], ['rate_limit_exceeded', '1000']);
});

describe('readers of the documentation', () => {
  test('get exactly 600 of 1,000 requests a minute through, and 20,000 a day', () => {
    const { time, limiter } = open();
    const passedInMinute = (count: number) =>
      Array.from({ length: count }, () => limiter.takeForReader('192.0.2.7') as Decision).filter(
        ({ code }) => code === null,
      ).length;
    const passed = Array.from({ length: 34 }, () => {
      time.nowMs += minuteMs;
      return passedInMinute(1_000);
    });
    assert.deepEqual(passed, [...Array(33).fill(600), 20_000 - 33 * 600]);
    const { headers } = limiter.takeForReader('192.0.2.8') as Decision;
    assert.equal(headers['ratelimit-policy'], '"minute";q=600;w=60, "day";q=20000;w=86400');
  });
});

test('the limiter waits for asynchronous counters', async () => {
  const counters = createMemoryCounters();
  const { limiter, caller } = open(freeLimits, {
    take: async (...request) => counters.take(...request),
    look: async (...request) => counters.look(...request),
    lift: async (...request) => counters.lift(...request),
    reset: async (...request) => counters.reset(...request),
  });
  const decision = await limiter.takeForKey(caller);
  assert.equal(decision.headers['x-ratelimit-remaining'], '59');
  assert.equal((await limiter.takeForAddress('192.0.2.7')).headers['x-ratelimit-remaining'], '59');
  assert.equal((await limiter.peekAddress('192.0.2.7')).headers['x-ratelimit-remaining'], '59');
  assert.equal((await limiter.takeForReader('192.0.2.7')).headers['x-ratelimit-remaining'], '599');
  assert.equal(await limiter.findRefusal('192.0.2.7'), null);
});
