import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../src/clock.ts';
import { beginsBan, decide, describeHeld, type Usage } from '../../../src/limits/rules/decision.ts';
import { freeLimits } from '../../../src/plans/plan.ts';
import { readHeader } from '../../support/expect-error.ts';

const nowMs = 1_800_000_000_500;

/** Returns the usage of a subject whose windows have just opened, with `changes`. */
function usage(changes: Partial<Usage>): Usage {
  return {
    verdict: 'passed',
    atMs: nowMs,
    minuteUsed: 1,
    minuteEndsAtMs: nowMs + minuteMs,
    dayUsed: 1,
    dayEndsAtMs: nowMs + dayMs,
    bannedUntilMs: 0,
    ...changes,
  };
}

const unopenedMinute = { minuteUsed: 0, minuteEndsAtMs: 0 };

function decideOn(changes: Partial<Usage>, limits = freeLimits) {
  return decide(usage(changes), limits);
}

test('only a refused request with a ban begins a ban', () => {
  assert.equal(beginsBan(usage({ verdict: 'refused', bannedUntilMs: nowMs + minuteMs })), true);
  assert.equal(beginsBan(usage({ verdict: 'refused' })), false);
  assert.equal(beginsBan(usage({ verdict: 'banned', bannedUntilMs: nowMs + minuteMs })), false);
});

describe('the headers of a held response', () => {
  const describeAfter = (heldMs: number) => describeHeld(usage({ minuteUsed: 60 }), freeLimits, heldMs);

  test('have the seconds that are left when the response is sent', () => {
    const headers = describeAfter(20 * secondMs);
    assert.equal(readHeader(headers, 'ratelimit'), '"minute";r=0;t=40, "day";r=999;t=86380');
    assert.equal(readHeader(headers, 'x-ratelimit-reset'), String(Math.ceil((nowMs + minuteMs) / secondMs)));
  });

  test('show a window that has ended in the meantime as not open', () => {
    const headers = describeAfter(minuteMs);
    assert.equal(readHeader(headers, 'ratelimit'), '"minute";r=60;t=60, "day";r=999;t=86340');
    assert.equal(readHeader(headers, 'x-ratelimit-remaining'), '60');
  });
});

const full = { verdict: 'refused', minuteUsed: 60 } as const;
const fullDay = { verdict: 'refused', ...unopenedMinute, dayUsed: 1_000 } as const;
const banned = { bannedUntilMs: nowMs + 2 * minuteMs };

/**
 * What a request gets: the `code`, `Retry-After`, the window in `X-RateLimit-Limit`, the time of `X-RateLimit-Reset` in
 * seconds after `nowMs`, and `RateLimit`.
 */
type Expected = [code: string | null, retryAfter: number, limit: number, resetSeconds: number, both: string];

for (const [title, changes, expected] of [
  [
    'a request that passes gets the state of both windows',
    {},
    [null, 0, 60, 60.5, 'r=59;t=60 r=999;t=86400'],
  ],
  [
    'the X-RateLimit headers show the day window if it has fewer requests left',
    { dayUsed: 950 },
    [null, 0, 1_000, 86_400.5, 'r=59;t=60 r=50;t=86400'],
  ],
  [
    'the X-RateLimit headers show the minute window if both have the same number left',
    { dayUsed: 941 },
    [null, 0, 60, 60.5, 'r=59;t=60 r=59;t=86400'],
  ],
  [
    'the time until a window resets is in seconds, rounded up',
    { minuteEndsAtMs: nowMs + 1, dayEndsAtMs: nowMs + 1_001 },
    [null, 0, 60, 0.5, 'r=59;t=1 r=999;t=2'],
  ],
  [
    'the reset time is exact if a window ends on a whole second',
    { minuteEndsAtMs: nowMs + 1_500 },
    [null, 0, 60, 1.5, 'r=59;t=2 r=999;t=86400'],
  ],
  [
    'a window that is not open has its full limit and length',
    { ...unopenedMinute, dayUsed: 0, dayEndsAtMs: 0 },
    [null, 0, 60, 60.5, 'r=60;t=60 r=1000;t=86400'],
  ],
  [
    'nothing is left if the plan was lowered below the used count',
    { minuteUsed: 70 },
    [null, 0, 60, 60.5, 'r=0;t=60 r=999;t=86400'],
  ],
  [
    'a refused request gets the minute window that refused it',
    full,
    ['rate_limit_exceeded', 60, 60, 60.5, 'r=0;t=60 r=999;t=86400'],
  ],
  [
    'a refused request waits at least a second',
    { ...full, minuteEndsAtMs: nowMs + 1 },
    ['rate_limit_exceeded', 1, 60, 0.5, 'r=0;t=1 r=999;t=86400'],
  ],
  [
    'a refused request gets the day window that refused it',
    { ...fullDay, dayEndsAtMs: nowMs + hourMs },
    ['rate_limit_exceeded', 3_600, 1_000, 3_600.5, 'r=60;t=60 r=0;t=3600'],
  ],
  [
    'a request that both windows refuse gets the day window if that is the longer wait',
    { ...full, dayUsed: 1_000, dayEndsAtMs: nowMs + hourMs },
    ['rate_limit_exceeded', 3_600, 1_000, 3_600.5, 'r=0;t=60 r=0;t=3600'],
  ],
  [
    'a request that both windows refuse gets the minute window if that is the longer wait',
    { ...full, dayUsed: 1_000, dayEndsAtMs: nowMs + secondMs },
    ['rate_limit_exceeded', 60, 60, 60.5, 'r=0;t=60 r=0;t=1'],
  ],
  [
    'the request that begins a ban gets its end',
    { ...full, ...banned },
    ['rate_limit_exceeded', 120, 60, 120.5, 'r=0;t=120 r=999;t=86400'],
  ],
  [
    'the request that begins a ban gets the end of the day window that refused it if that is later',
    { ...fullDay, ...banned },
    ['rate_limit_exceeded', 86_400, 1_000, 86_400.5, 'r=0;t=120 r=0;t=86400'],
  ],
  [
    'the request that begins a ban gets its end if the day window that refused it ends earlier',
    { ...fullDay, ...banned, dayEndsAtMs: nowMs + secondMs },
    ['rate_limit_exceeded', 120, 60, 120.5, 'r=0;t=120 r=0;t=1'],
  ],
  [
    'a request during a ban gets its end, and the real day window',
    { verdict: 'banned', ...unopenedMinute, dayUsed: 300, ...banned },
    ['key_banned', 120, 60, 120.5, 'r=0;t=120 r=700;t=86400'],
  ],
  [
    'a request during a ban gets its end even if the used-up day window ends later',
    { verdict: 'banned', dayUsed: 1_000, ...banned },
    ['key_banned', 120, 60, 120.5, 'r=0;t=120 r=0;t=86400'],
  ],
] satisfies [string, Partial<Usage>, Expected][])
  test(title, () => {
    const [code, retryAfter, limit, resetSeconds, both] = expected;
    const [minute = '', day = ''] = both.split(' ');
    const left = limit === 60 ? minute : day;
    const decision = decideOn(changes);
    assert.deepEqual([decision.code, decision.retryAfterSeconds], [code, retryAfter]);
    assert.deepEqual(decision.headers, [
      ...['x-ratelimit-limit', String(limit)],
      ...['x-ratelimit-remaining', /r=(\d+)/.exec(left)?.[1]],
      ...['x-ratelimit-reset', String(nowMs / secondMs + resetSeconds)],
      ...['ratelimit-policy', '"minute";q=60;w=60, "day";q=1000;w=86400'],
      ...['ratelimit', `"minute";${minute}, "day";${day}`],
      ...(retryAfter > 0 ? ['retry-after', String(retryAfter)] : []),
    ]);
  });
