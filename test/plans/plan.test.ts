import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  freeLimits,
  limitMax,
  openHoldsMax,
  openHoldsOf,
  readerLimits,
  resolvePlan,
} from '../../src/plans/plan.ts';

describe('the plans of interface section 8', () => {
  for (const [name, perMinute, perDay] of [
    ['free', 60, 1_000],
    ['pro', 300, 10_000],
    ['business', 1_000, 100_000],
  ] as const) {
    test(`${name} has the limits ${perMinute} requests a minute and ${perDay} a day`, () => {
      assert.deepEqual(resolvePlan(name, {}), { name, limits: { perMinute, perDay } });
    });

    for (const custom of [{ perMinute: 1 }, { perDay: 1 }, { perMinute, perDay }, { openHolds: 1 }])
      test(`${name} accepts no custom limits such as ${JSON.stringify(custom)}`, () => {
        const problem = `plan ${name} has fixed limits: only enterprise accepts per-minute, per-day and open-holds`;
        assert.deepEqual(resolvePlan(name, custom), { problem });
      });
  }

  test('the limits without a valid key are the limits of free', () => {
    assert.deepEqual(freeLimits, { perMinute: 60, perDay: 1_000 });
  });

  test('the documentation and the open holds have their own limits (contract sections 6 and 12)', () => {
    assert.deepEqual(readerLimits, { perMinute: 600, perDay: 20_000 });
    assert.deepEqual(openHoldsOf, { free: 5, pro: 25, business: 100, enterprise: 100 });
  });
});

describe('enterprise', () => {
  for (const limits of [
    { perMinute: 1, perDay: 1 },
    { perMinute: 7, perDay: 10 },
    { perMinute: 10, perDay: 7 },
    { perMinute: limitMax, perDay: limitMax },
  ])
    test(`accepts ${limits.perMinute} requests a minute and ${limits.perDay} a day`, () => {
      assert.deepEqual(resolvePlan('enterprise', limits), { name: 'enterprise', limits });
    });

  for (const custom of [{}, { perMinute: 5 }, { perDay: 5 }])
    test(`requires both limits, not only ${JSON.stringify(custom)}`, () => {
      assert.deepEqual(resolvePlan('enterprise', custom), {
        problem: 'plan enterprise needs both per-minute and per-day',
      });
    });

  for (const wrong of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, limitMax + 1])
    test(`refuses ${wrong} requests a minute or a day`, () => {
      const problem = `per-minute and per-day must be whole numbers from 1 to ${limitMax}`;
      assert.deepEqual(resolvePlan('enterprise', { perMinute: wrong, perDay: 5 }), { problem });
      assert.deepEqual(resolvePlan('enterprise', { perMinute: 5, perDay: wrong }), { problem });
    });

  const limits = { perMinute: 1, perDay: 1 };
  for (const openHolds of [1, openHoldsMax])
    test(`accepts ${openHolds} open holds`, () => {
      assert.deepEqual(resolvePlan('enterprise', { ...limits, openHolds }), {
        name: 'enterprise',
        limits,
        openHolds,
      });
    });

  for (const openHolds of [0, -1, 1.5, Number.NaN, openHoldsMax + 1])
    test(`refuses ${openHolds} open holds`, () => {
      const problem = `open-holds must be a whole number from 1 to ${openHoldsMax}`;
      assert.deepEqual(resolvePlan('enterprise', { ...limits, openHolds }), { problem });
    });
});

for (const name of ['', 'Free', 'FREE', 'gold', 'toString', '__proto__'])
  test(`"${name}" is not a plan`, () => {
    const resolved = resolvePlan(name, {});
    assert.ok('problem' in resolved);
    assert.match(resolved.problem, /^plan must be one of free, pro, business, enterprise, not /);
  });
