import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/clock.ts';
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

describe('a key on Free', () => {
  test('gets exactly 60 of 10,000 requests through', () => {
    const { send } = open();
    assert.deepEqual(
      codes(send(10_000)).filter((code) => code === null),
      Array(60).fill(null),
    );
  });

  test('gets remaining counts from 59 down to 0 without a gap or a repeat', () => {
    const { send } = open();
    const remaining = send(60).map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    assert.deepEqual(
      remaining,
      Array.from({ length: 60 }, (_, index) => 59 - index),
    );
  });

  test('passes again after Retry-After, and not a second earlier', () => {
    const { time, send } = open();
    send(60);
    time.nowMs += 17_001;
    const [refused] = send(1);
    assert.equal(refused?.retryAfterSeconds, 43);
    time.nowMs += 42 * secondMs;
    assert.deepEqual(codes(send(1)), ['rate_limit_exceeded']);
    time.nowMs += secondMs;
    assert.deepEqual(codes(send(1)), [null]);
  });

  test('passes again at the Unix second of X-RateLimit-Reset', () => {
    const { time, send } = open();
    const [refused] = send(61).slice(-1);
    time.nowMs = Number(refused?.headers['x-ratelimit-reset']) * secondMs;
    assert.deepEqual(codes(send(1)), [null]);
  });

  test('gets 1,000 requests a day through, even if others are refused in between', () => {
    const { time, send } = open();
    let passed = 0;
    for (let minute = 0; minute < 17; minute += 1) {
      passed += codes(send(80)).filter((code) => code === null).length;
      time.nowMs += minuteMs;
    }
    assert.equal(passed, 1_000);
    const [refused] = send(1);
    assert.equal(refused?.headers['x-ratelimit-limit'], '1000');
    time.nowMs += (refused?.retryAfterSeconds ?? 0) * secondMs;
    assert.deepEqual(codes(send(1)), [null]);
  });
});

describe('a key that keeps sending after a 429', () => {
  test('is banned by its 60th refused request, and the answer has the end of the ban', () => {
    const { time, send } = open();
    send(60);
    time.nowMs += 30 * secondMs;
    const decisions = send(61);
    assert.deepEqual(codes(decisions), [...Array(60).fill('rate_limit_exceeded'), 'key_banned']);
    assert.deepEqual(
      decisions.slice(58).map(({ retryAfterSeconds }) => retryAfterSeconds),
      [30, 60, 60],
    );
  });

  test('passes again at the end of the ban, and not a second earlier', () => {
    const { time, send } = open();
    const [banned] = send(200).slice(-1);
    time.nowMs += ((banned?.retryAfterSeconds ?? 0) - 1) * secondMs;
    assert.deepEqual(codes(send(1)), ['key_banned']);
    time.nowMs += secondMs;
    assert.deepEqual(codes(send(1)), [null]);
  });

  test('gets the same end of the ban in every answer during the ban', () => {
    const { time, send } = open();
    send(120);
    const resets = [0, 1, 20_000, 39_000].map((pauseMs) => {
      time.nowMs += pauseMs;
      return send(1)[0]?.headers['x-ratelimit-reset'];
    });
    assert.equal(new Set(resets).size, 1);
  });

  test('does not affect the other keys of its account', () => {
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

  test('is banned for only a minute again after a day without a ban', () => {
    const { time, send } = open();
    send(120);
    time.nowMs += hourMs;
    assert.equal(send(121).at(-1)?.retryAfterSeconds, 120);
    time.nowMs += dayMs;
    assert.equal(send(121).at(-1)?.retryAfterSeconds, 60);
  });
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
  });
  const decision = await limiter.takeForKey(caller);
  assert.equal(decision.headers['x-ratelimit-remaining'], '59');
  assert.equal((await limiter.takeForAddress('192.0.2.7')).headers['x-ratelimit-remaining'], '59');
  assert.equal((await limiter.peekAddress('192.0.2.7')).headers['x-ratelimit-remaining'], '59');
  assert.equal((await limiter.takeForReader('192.0.2.7')).headers['x-ratelimit-remaining'], '599');
  assert.equal(await limiter.findRefusal('192.0.2.7'), null);
});
