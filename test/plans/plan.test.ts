import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  freeLimits,
  limitMax,
  openHoldsMax,
  openHoldsOf,
  readerLimits,
  resolvePlan,
} from '../../src/plans/plan.ts';

for (const [name, perMinute, perDay] of [
  ['free', 60, 1_000],
  ['pro', 300, 10_000],
  ['business', 1_000, 100_000],
] as const) {
  test(`the plan ${name} has the limits of interface section 8`, () => {
    assert.deepEqual(resolvePlan(name, {}), { name, limits: { perMinute, perDay } });
  });

  test(`the plan ${name} accepts no limits of an account's own`, () => {
    const problem = `plan ${name} has fixed limits: only enterprise accepts per-minute, per-day and open-holds`;
    for (const custom of [{ perMinute: 1 }, { perDay: 1 }, { perMinute, perDay }, { openHolds: 1 }])
      assert.deepEqual(resolvePlan(name, custom), { problem });
  });
}

test('addresses without a valid key, the documentation and open holds have fixed limits', () => {
  assert.deepEqual(freeLimits, { perMinute: 60, perDay: 1_000 });
  assert.deepEqual(readerLimits, { perMinute: 600, perDay: 20_000 });
  assert.deepEqual(openHoldsOf, { free: 5, pro: 25, business: 100, enterprise: 100 });
});

test('enterprise accepts any numbers of requests and of open holds within their bounds', () => {
  const name = 'enterprise';
  for (const [perMinute, perDay] of [
    [1, 1],
    [10, 7],
    [limitMax, limitMax],
  ] as const) {
    const limits = { perMinute, perDay };
    assert.deepEqual(resolvePlan(name, limits), { name, limits });
    for (const openHolds of [1, openHoldsMax])
      assert.deepEqual(resolvePlan(name, { ...limits, openHolds }), { name, limits, openHolds });
  }
});

const noLimits = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, limitMax + 1];
for (const [problem, refused] of [
  ['plan enterprise needs both per-minute and per-day', [{}, { perMinute: 5 }, { perDay: 5 }]],
  [
    `per-minute and per-day must be whole numbers from 1 to ${limitMax}`,
    noLimits.flatMap((wrong) => [
      { perMinute: wrong, perDay: 5 },
      { perMinute: 5, perDay: wrong },
    ]),
  ],
  [
    `open-holds must be a whole number from 1 to ${openHoldsMax}`,
    [...noLimits, openHoldsMax + 1].map((openHolds) => ({ perMinute: 1, perDay: 1, openHolds })),
  ],
] as const)
  test(`enterprise is refused: ${problem}`, () => {
    for (const custom of refused) assert.deepEqual(resolvePlan('enterprise', custom), { problem });
  });

test('no other text is a plan', () => {
  for (const name of ['', 'Free', 'FREE', 'gold', 'toString', '__proto__']) {
    const problem = `plan must be one of free, pro, business, enterprise, not "${name}"`;
    assert.deepEqual(resolvePlan(name, {}), { problem });
  }
});
