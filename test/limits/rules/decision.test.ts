import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dayMs, hourMs, minuteMs, secondMs } from '../../../src/clock.ts';
import { beginsBan, decide, decideLater, type Usage } from '../../../src/limits/rules/decision.ts';
import { freeLimits } from '../../../src/plans/plan.ts';
import { readHeader } from '../../support/expect-error.ts';

const nowMs = 1_800_000_000_500;

const minute = (used: number, leftMs = minuteMs) => ({ minute: { used, endsAtMs: nowMs + leftMs } });
const day = (used: number, leftMs = dayMs) => ({ day: { used, endsAtMs: nowMs + leftMs } });
const noMinute = { minute: { used: 0, endsAtMs: 0 } };
const noDay = { day: { used: 0, endsAtMs: 0 } };

/** Returns the usage of a subject whose windows have just opened, with `changes`. */
function usage(changes: Partial<Usage>): Usage {
  return { verdict: 'passed', atMs: nowMs, ...minute(1), ...day(1), bannedUntilMs: 0, ...changes };
}

test('only a refused request with a ban begins a ban', () => {
  assert.equal(beginsBan(usage({ verdict: 'refused', bannedUntilMs: nowMs + minuteMs })), true);
  assert.equal(beginsBan(usage({ verdict: 'refused' })), false);
  assert.equal(beginsBan(usage({ verdict: 'banned', bannedUntilMs: nowMs + minuteMs })), false);
});

test('a request that has passed stays passed when its response is sent after the window', () => {
  const { code, headers } = decideLater(decide(usage(minute(60)), freeLimits), minuteMs);
  assert.equal(code, null);
  assert.ok(!headers.includes('retry-after'));
});

describe('the headers of a held response', () => {
  const describeAfter = (heldMs: number) =>
    decideLater(decide(usage(minute(60)), freeLimits), heldMs).headers;

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

describe('a refusal that is sent later', () => {
  const refuse = (changes: Partial<Usage>, heldMs: number) => {
    const { code, headers, retryAfterSeconds } = decideLater(decide(usage(changes), freeLimits), heldMs);
    assert.equal(readHeader(headers, 'retry-after'), String(retryAfterSeconds));
    return { code, retryAfterSeconds, remaining: readHeader(headers, 'x-ratelimit-remaining') };
  };
  const refused = { verdict: 'refused', ...minute(60) } as const;

  test('has the seconds that are left when it is sent', () => {
    const code = 'rate_limit_exceeded';
    assert.deepEqual(refuse(refused, 20 * secondMs), { code, retryAfterSeconds: 40, remaining: '0' });
  });

  test('may be repeated after a second if its window has ended', () => {
    const code = 'rate_limit_exceeded';
    assert.deepEqual(refuse(refused, minuteMs), { code, retryAfterSeconds: 1, remaining: '60' });
  });

  test('waits for the day if only the minute has ended', () => {
    const both = { verdict: 'refused', ...minute(60), ...day(1_000) } as const;
    const { retryAfterSeconds, remaining } = refuse(both, minuteMs);
    assert.deepEqual([retryAfterSeconds, remaining], [(dayMs - minuteMs) / secondMs, '0']);
  });

  test('may be repeated after a second if its ban has expired', () => {
    const bannedFor = { verdict: 'banned', ...minute(0, 0), bannedUntilMs: nowMs + secondMs } as const;
    const { code, retryAfterSeconds } = refuse(bannedFor, 2 * secondMs);
    assert.deepEqual([code, retryAfterSeconds], ['key_banned', 1]);
  });
});

const nearlyOver = { ...minute(1, 1), ...day(1, 1_001) };
const closed = { ...noMinute, ...noDay };
const full = { verdict: 'refused', ...minute(60) } as const;
const fullDay = { verdict: 'refused', ...noMinute } as const;
const banning = { bannedUntilMs: nowMs + 2 * minuteMs };
const banned = { verdict: 'banned', ...banning } as const;
const limited = 'rate_limit_exceeded';

/** The window in `X-RateLimit-Limit`, the time of `X-RateLimit-Reset` in seconds after `nowMs`, and `RateLimit`. */
type Shown = [limit: number, resetSeconds: number, both: string];
/** What a refused request gets: the `code`, `Retry-After`, and what its headers show. */
type Refused = [code: string | null, retryAfter: number, ...Shown];

const passing: Readonly<Record<string, [changes: Partial<Usage>, ...Shown]>> = {
  'shows both windows of a request that passes': [{}, 60, 60.5, 'r=59;t=60 r=999;t=86400'],
  'shows the day if it has fewer requests left': [day(950), 1_000, 86_400.5, 'r=59;t=60 r=50;t=86400'],
  'shows the minute if both have the same number left': [day(941), 60, 60.5, 'r=59;t=60 r=59;t=86400'],
  'rounds the seconds until a reset up': [nearlyOver, 60, 0.5, 'r=59;t=1 r=999;t=2'],
  'has the exact time of a reset on a whole second': [minute(1, 1_500), 60, 1.5, 'r=59;t=2 r=999;t=86400'],
  'shows the full limit and length of a closed window': [closed, 60, 60.5, 'r=60;t=60 r=1000;t=86400'],
  'has nothing left if the new plan allows fewer': [minute(70), 60, 60.5, 'r=0;t=60 r=999;t=86400'],
};

const refusing: Readonly<Record<string, [changes: Partial<Usage>, Refused]>> = {
  'shows the minute that refused': [full, [limited, 60, 60, 60.5, 'r=0;t=60 r=999;t=86400']],
  'lets a refused request wait at least a second': [
    { ...full, ...minute(60, 1) },
    [limited, 1, 60, 0.5, 'r=0;t=1 r=999;t=86400'],
  ],
  'shows the day that refused': [
    { ...fullDay, ...day(1_000, hourMs) },
    [limited, 3_600, 1_000, 3_600.5, 'r=60;t=60 r=0;t=3600'],
  ],
  'shows the day if both refused and it is the longer wait': [
    { ...full, ...day(1_000, hourMs) },
    [limited, 3_600, 1_000, 3_600.5, 'r=0;t=60 r=0;t=3600'],
  ],
  'shows the minute if both refused and it is the longer wait': [
    { ...full, ...day(1_000, secondMs) },
    [limited, 60, 60, 60.5, 'r=0;t=60 r=0;t=1'],
  ],
  'shows the end of a ban that begins': [
    { ...full, ...banning },
    [limited, 120, 60, 120.5, 'r=0;t=120 r=999;t=86400'],
  ],
  'shows the day that refused if a ban that begins ends earlier': [
    { ...fullDay, ...day(1_000), ...banning },
    [limited, 86_400, 1_000, 86_400.5, 'r=0;t=120 r=0;t=86400'],
  ],
  'shows the end of a ban that begins if the day that refused ends earlier': [
    { ...fullDay, ...day(1_000, secondMs), ...banning },
    [limited, 120, 60, 120.5, 'r=0;t=120 r=0;t=1'],
  ],
  'shows the real day beside the end of a ban': [
    { ...banned, ...noMinute, ...day(300) },
    ['key_banned', 120, 60, 120.5, 'r=0;t=120 r=700;t=86400'],
  ],
  'shows the end of a ban even if a used-up day ends later': [
    { ...banned, ...day(1_000) },
    ['key_banned', 120, 60, 120.5, 'r=0;t=120 r=0;t=86400'],
  ],
};

const decisions = [
  ...Object.entries(refusing),
  ...Object.entries(passing).map(
    ([title, [changes, ...shown]]) => [title, [changes, [null, 0, ...shown]]] as const,
  ),
];

for (const [title, [changes, expected]] of decisions)
  test(`a decision ${title}`, () => {
    const [code, retryAfter, limit, resetSeconds, both] = expected;
    const [minuteLeft = '', dayLeft = ''] = both.split(' ');
    const left = limit === 60 ? minuteLeft : dayLeft;
    const decision = decide(usage(changes), freeLimits);
    assert.deepEqual([decision.code, decision.retryAfterSeconds], [code, retryAfter]);
    assert.deepEqual(decision.headers, [
      ...['x-ratelimit-limit', String(limit)],
      ...['x-ratelimit-remaining', /r=(\d+)/.exec(left)?.[1]],
      ...['x-ratelimit-reset', String(nowMs / secondMs + resetSeconds)],
      ...['ratelimit-policy', '"minute";q=60;w=60, "day";q=1000;w=86400'],
      ...['ratelimit', `"minute";${minuteLeft}, "day";${dayLeft}`],
      ...(retryAfter > 0 ? ['retry-after', String(retryAfter)] : []),
    ]);
  });
