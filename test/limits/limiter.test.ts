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

test('a key on Free gets exactly 60 of 10,000 requests through, with remaining counts from 59 down to 0', () => {
  const passed = open()
    .send(10_000)
    .filter(({ code }) => code === null);
  assert.deepEqual(
    passed.map(({ headers }) => headers['x-ratelimit-remaining']),
    Array.from({ length: 60 }, (_, index) => String(59 - index)),
  );
});

test('a ban does not affect the other keys of its account', () => {
  const { time, limiter, caller, send } = open();
  send(120);
  time.nowMs += minuteMs - 1;
  assert.deepEqual(codes(send(1)), ['key_banned']);
  time.nowMs += 1;
  send(120);
  time.nowMs += minuteMs;
  assert.deepEqual(codes(send(1)), ['key_banned']);
  const { code } = limiter.takeForKey({ ...caller, keyId: 'another' }) as Decision;
  assert.equal(code, null);
});

describe('requests without a valid key', () => {
  test('are counted by address with the limits of Free', () => {
    const { limiter } = open({ perMinute: 1_000, perDay: 100_000 });
    const decisions = Array.from({ length: 61 }, () => limiter.takeForAddress('192.0.2.7') as Decision);
    assert.deepEqual(codes(decisions), [...Array(60).fill(null), 'rate_limit_exceeded']);
    assert.equal(decisions[0]?.headers['ratelimit-policy'], '"minute";q=60;w=60, "day";q=1000;w=86400');
    const { code } = limiter.takeForAddress('192.0.2.8') as Decision;
    assert.equal(code, null);
  });

  test('share a count within an IPv6 /64', () => {
    const { limiter } = open();
    for (let host = 1; host <= 60; host += 1) limiter.takeForAddress(`2001:db8::${host.toString(16)}`);
    assert.equal((limiter.takeForAddress('2001:db8::ffff') as Decision).code, 'rate_limit_exceeded');
    assert.equal((limiter.takeForAddress('2001:db8:0:1::1') as Decision).code, null);
  });

  test('never lead to a ban', () => {
    const { limiter } = open();
    for (let sent = 0; sent < 1_000; sent += 1) limiter.takeForAddress('192.0.2.7');
    const { code, retryAfterSeconds } = limiter.takeForAddress('192.0.2.7') as Decision;
    assert.deepEqual([code, retryAfterSeconds], ['rate_limit_exceeded', 60]);
  });

  test('are counted separately from a key at the same address', () => {
    const { limiter, send } = open();
    for (let sent = 0; sent < 100; sent += 1) limiter.takeForAddress('192.0.2.7');
    assert.equal(send(1)[0]?.headers['x-ratelimit-remaining'], '59');
    assert.equal((limiter.takeForAddress('192.0.2.8') as Decision).headers['x-ratelimit-remaining'], '59');
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

  test('are counted separately from requests to the API', () => {
    const { limiter, send } = open();
    for (let sent = 0; sent < 700; sent += 1) limiter.takeForReader('192.0.2.7');
    assert.equal((limiter.takeForAddress('192.0.2.7') as Decision).headers['x-ratelimit-remaining'], '59');
    assert.equal(send(1)[0]?.headers['x-ratelimit-remaining'], '59');
    for (let sent = 0; sent < 100; sent += 1) limiter.takeForAddress('192.0.2.8');
    assert.equal((limiter.takeForReader('192.0.2.8') as Decision).headers['x-ratelimit-remaining'], '599');
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
