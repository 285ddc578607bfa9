import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { getHeapSpaceStatistics } from 'node:v8';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../src/clock.ts';
import {
  beginsBan,
  decide,
  describeHeld,
  measureWindows,
  type Usage,
} from '../../../src/limits/rules/decision.ts';
import { freeLimits } from '../../../src/plans/plan.ts';

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

describe('the measured windows', () => {
  test('have what is left of the limits and their ends', () => {
    assert.deepEqual(measureWindows(usage({ dayUsed: 300 }), freeLimits), {
      minute: { limit: 60, remaining: 59, resetAtMs: nowMs + minuteMs },
      day: { limit: 1_000, remaining: 700, resetAtMs: nowMs + dayMs },
    });
    const ends = { minuteEndsAtMs: nowMs + 1, dayEndsAtMs: nowMs + 2 };
    const { minute, day } = measureWindows(usage(ends), freeLimits);
    assert.deepEqual([minute.resetAtMs, day.resetAtMs], [nowMs + 1, nowMs + 2]);
  });

  test('have the whole limit and length if they are not open', () => {
    assert.deepEqual(measureWindows(usage({ ...unopenedMinute, dayUsed: 0, dayEndsAtMs: 0 }), freeLimits), {
      minute: { limit: 60, remaining: 60, resetAtMs: nowMs + minuteMs },
      day: { limit: 1_000, remaining: 1_000, resetAtMs: nowMs + dayMs },
    });
  });

  test('have nothing left if the plan was lowered below the used count', () => {
    const { minute, day } = measureWindows(usage({ minuteUsed: 70, dayUsed: 1_070 }), freeLimits);
    assert.deepEqual([minute.remaining, day.remaining], [0, 0]);
  });
});

describe('the headers of a held response', () => {
  const describeAfter = (heldMs: number) => describeHeld(usage({ minuteUsed: 60 }), freeLimits, heldMs);

  test('have the seconds that are left when the response is sent', () => {
    const headers = describeAfter(20 * secondMs);
    assert.equal(headers.ratelimit, '"minute";r=0;t=40, "day";r=999;t=86380');
    assert.equal(headers['x-ratelimit-reset'], String(Math.ceil((nowMs + minuteMs) / secondMs)));
  });

  test('show a window that has ended in the meantime as not open', () => {
    const headers = describeAfter(minuteMs);
    assert.equal(headers.ratelimit, '"minute";r=60;t=60, "day";r=999;t=86340');
    assert.equal(headers['x-ratelimit-remaining'], '60');
  });
});

describe('a count in the headers', () => {
  const ample = { perMinute: Number.MAX_SAFE_INTEGER - 1, perDay: Number.MAX_SAFE_INTEGER };

  function decideWith(left: number) {
    const used = ample.perMinute - left;
    return decideOn({ minuteUsed: used, dayUsed: used }, ample).headers;
  }

  test('is written with all its digits', () => {
    const counts = [0, 7, 10, 99, 100, 999, 1_000, 1_001, 1_010, 9_999, 10_000, 999_999, 1_000_000, 2 ** 31];
    for (const left of [...counts, ample.perMinute - 1]) {
      const headers = decideWith(left);
      assert.equal(headers['x-ratelimit-remaining'], String(left));
      assert.equal(headers['ratelimit'], `"minute";r=${left};t=60, "day";r=${left + 1};t=86400`);
    }
  });

  test('stays in no cache of V8 after its request', () => {
    const remembered = measureOldGrowth(String);
    const written = measureOldGrowth(decideWith);
    assert.ok(
      remembered > 500_000,
      `V8 does not cache the texts of numbers, so the comparison is void: ${remembered} bytes`,
    );
    assert.ok(written < remembered / 10, `${written} bytes of ${remembered}`);
  });
});

const warmUpCounts = 20_000;
let otherwiseMade: unknown;

/** Returns the growth of V8's old space in bytes while `write` formats counts, among the garbage of requests. */
function measureOldGrowth(write: (count: number) => unknown): number {
  let before = 0;
  for (let count = 0; count < 4 * warmUpCounts; count += 1) {
    if (count === warmUpCounts) before = readOldBytes();
    write(1_000_000 + count);
    otherwiseMade = new Array(1_000).fill(count);
  }
  assert.ok(otherwiseMade);
  return readOldBytes() - before;
}

function readOldBytes(): number {
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space');
  return old?.space_used_size ?? 0;
}

describe('a request that passes', () => {
  test('gets the state of both windows', () => {
    assert.partialDeepStrictEqual(decideOn({}), {
      code: null,
      retryAfterSeconds: 0,
      headers: {
        'x-ratelimit-limit': '60',
        'x-ratelimit-remaining': '59',
        'x-ratelimit-reset': '1800000061',
        'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
        ratelimit: '"minute";r=59;t=60, "day";r=999;t=86400',
      },
    });
  });

  test('gets the day window in the X-RateLimit headers if it has fewer requests left', () => {
    const { headers } = decideOn({ dayUsed: 950 });
    assert.equal(headers['x-ratelimit-limit'], '1000');
    assert.equal(headers['x-ratelimit-remaining'], '50');
    assert.equal(headers['x-ratelimit-reset'], String(Math.ceil((nowMs + dayMs) / secondMs)));
  });

  test('gets the minute window in the X-RateLimit headers if both have the same number left', () => {
    const { headers } = decideOn({ dayUsed: 941 });
    assert.equal(headers['x-ratelimit-limit'], '60');
    assert.equal(headers['x-ratelimit-remaining'], '59');
  });

  test('gets the time until a window resets in seconds, rounded up', () => {
    const { headers } = decideOn({ minuteEndsAtMs: nowMs + 1, dayEndsAtMs: nowMs + 1_001 });
    assert.equal(headers['ratelimit'], '"minute";r=59;t=1, "day";r=999;t=2');
    assert.equal(headers['x-ratelimit-reset'], '1800000001');
  });

  test('gets the exact reset time if a window ends on a whole second', () => {
    const { headers } = decideOn({ minuteEndsAtMs: 1_800_000_002_000 });
    assert.equal(headers['x-ratelimit-reset'], '1800000002');
  });

  test('gets the full limit and the whole length for a window that is not open', () => {
    const { headers } = decideOn({ ...unopenedMinute, dayUsed: 0, dayEndsAtMs: 0 });
    assert.equal(headers['ratelimit'], '"minute";r=60;t=60, "day";r=1000;t=86400');
    assert.equal(headers['x-ratelimit-remaining'], '60');
    assert.equal(headers['x-ratelimit-reset'], '1800000061');
  });

  test('gets 0 remaining requests if the plan was lowered below the used count', () => {
    const { headers } = decideOn({ minuteUsed: 70 });
    assert.equal(headers['x-ratelimit-remaining'], '0');
    assert.match(headers['ratelimit'] ?? '', /^"minute";r=0;/);
  });

  test('gets large numbers with all digits', () => {
    const { headers } = decideOn({}, { perMinute: 1_000_000_000_000, perDay: 1_000_000_000_000 });
    assert.equal(headers['ratelimit-policy'], '"minute";q=1000000000000;w=60, "day";q=1000000000000;w=86400');
    assert.equal(headers['x-ratelimit-remaining'], '999999999999');
  });
});

describe('a refused request', () => {
  test('gets the minute window that refused it', () => {
    const { code, retryAfterSeconds, headers } = decideOn({ verdict: 'refused', minuteUsed: 60 });
    assert.equal(code, 'rate_limit_exceeded');
    assert.equal(retryAfterSeconds, 60);
    assert.equal(headers['retry-after'], '60');
    assert.equal(headers['x-ratelimit-limit'], '60');
    assert.equal(headers['x-ratelimit-remaining'], '0');
    assert.equal(headers['x-ratelimit-reset'], '1800000061');
  });

  test('waits at least a second', () => {
    const { retryAfterSeconds } = decideOn({
      verdict: 'refused',
      minuteUsed: 60,
      minuteEndsAtMs: nowMs + 1,
    });
    assert.equal(retryAfterSeconds, 1);
  });

  test('gets the day window that refused it, and a full minute window if that is not open', () => {
    const { retryAfterSeconds, headers } = decideOn({
      verdict: 'refused',
      ...unopenedMinute,
      dayUsed: 1_000,
      dayEndsAtMs: nowMs + hourMs,
    });
    assert.equal(retryAfterSeconds, 3_600);
    assert.equal(headers['x-ratelimit-limit'], '1000');
    assert.equal(headers['ratelimit'], '"minute";r=60;t=60, "day";r=0;t=3600');
  });

  test('gets the longer wait if both windows refused it', () => {
    const full = { verdict: 'refused', minuteUsed: 60, dayUsed: 1_000 } as const;
    const byDay = decideOn({ ...full, dayEndsAtMs: nowMs + hourMs });
    assert.equal(byDay.headers['x-ratelimit-limit'], '1000');
    assert.equal(byDay.retryAfterSeconds, 3_600);
    const byMinute = decideOn({ ...full, dayEndsAtMs: nowMs + secondMs });
    assert.equal(byMinute.headers['x-ratelimit-limit'], '60');
    assert.equal(byMinute.retryAfterSeconds, 60);
  });
});

describe('the request that begins a ban', () => {
  const bannedUntilMs = nowMs + 2 * minuteMs;

  test('gets the end of the ban if that is later', () => {
    const { code, retryAfterSeconds, headers } = decideOn({
      verdict: 'refused',
      minuteUsed: 60,
      bannedUntilMs,
    });
    assert.equal(code, 'rate_limit_exceeded');
    assert.equal(retryAfterSeconds, 120);
    assert.equal(headers['x-ratelimit-reset'], '1800000121');
    assert.equal(headers['ratelimit'], '"minute";r=0;t=120, "day";r=999;t=86400');
  });

  test('gets the end of the day window that refused it if that is later', () => {
    const { retryAfterSeconds, headers } = decideOn({
      verdict: 'refused',
      ...unopenedMinute,
      dayUsed: 1_000,
      bannedUntilMs,
    });
    assert.equal(retryAfterSeconds, 86_400);
    assert.equal(headers['x-ratelimit-limit'], '1000');
    assert.equal(headers['ratelimit'], '"minute";r=0;t=120, "day";r=0;t=86400');
  });

  test('gets the end of the ban if the day window that refused it ends earlier', () => {
    const { retryAfterSeconds, headers } = decideOn({
      verdict: 'refused',
      ...unopenedMinute,
      dayUsed: 1_000,
      dayEndsAtMs: nowMs + secondMs,
      bannedUntilMs,
    });
    assert.equal(retryAfterSeconds, 120);
    assert.equal(headers['x-ratelimit-limit'], '60');
  });
});

describe('a request of a banned key', () => {
  test('gets a minute window with nothing left until the end of the ban, and the real day window', () => {
    assert.partialDeepStrictEqual(
      decideOn({ verdict: 'banned', ...unopenedMinute, dayUsed: 300, bannedUntilMs: nowMs + minuteMs }),
      {
        code: 'key_banned',
        retryAfterSeconds: 60,
        headers: {
          'x-ratelimit-limit': '60',
          'x-ratelimit-remaining': '0',
          'x-ratelimit-reset': '1800000061',
          'ratelimit-policy': '"minute";q=60;w=60, "day";q=1000;w=86400',
          ratelimit: '"minute";r=0;t=60, "day";r=700;t=86400',
          'retry-after': '60',
        },
      },
    );
  });

  test('gets the end of the ban even if the used-up day window ends later', () => {
    const { retryAfterSeconds } = decideOn({
      verdict: 'banned',
      dayUsed: 1_000,
      bannedUntilMs: nowMs + minuteMs,
    });
    assert.equal(retryAfterSeconds, 60);
  });
});
