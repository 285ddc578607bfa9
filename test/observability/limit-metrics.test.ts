import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createLimiter } from '../../src/limits/limiter.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { exposeVerdicts } from '../../src/observability/limit-metrics.ts';
import { type Limits, type PlanName, resolvePlan } from '../../src/plans/plan.ts';

const nowMs = Date.UTC(2027, 0, 2, 12);

function limitsOf(name: PlanName, custom: Partial<Limits> = {}): Limits {
  const plan = resolvePlan(name, custom);
  if ('problem' in plan) throw new Error(plan.problem);
  return plan.limits;
}

function createCounted() {
  const registry = new Registry();
  const count = exposeVerdicts(registry);
  const counters = createMemoryCounters();
  const limiter = createLimiter({
    counters,
    clock: () => nowMs,
    onTake: (usage, caller) => count(usage, caller?.limits ?? null),
  });
  const take = (accountId: bigint, limits: Limits) =>
    limiter.takeForKey({ accountId, accountName: 'Zoo', keyId: `key_${accountId}`, limits });
  return { limiter, take, show: () => registry.metrics() };
}

test('verdicts are counted by plan', async () => {
  const { take, show } = createCounted();
  for (let request = 1; request <= 62; request += 1) await take(1n, limitsOf('free'));
  await take(2n, limitsOf('pro'));
  await take(3n, limitsOf('enterprise', { perMinute: 60, perDay: 1_000 }));

  const shown = await show();
  assert.match(shown, /limit_verdicts_total\{plan="free",verdict="passed"\} 60$/m);
  assert.match(shown, /limit_verdicts_total\{plan="free",verdict="refused"\} 2$/m);
  assert.match(shown, /limit_verdicts_total\{plan="pro",verdict="passed"\} 1$/m);
  assert.match(shown, /limit_verdicts_total\{plan="enterprise",verdict="passed"\} 1$/m);
  assert.match(shown, /limit_verdicts_total\{plan="none",verdict="passed"\} 0$/m);
});

test('a request without a valid key is counted with the plan "none"', async () => {
  const { limiter, show } = createCounted();
  await limiter.takeForAddress('192.0.2.1');
  assert.match(await show(), /limit_verdicts_total\{plan="none",verdict="passed"\} 1$/m);
});

test('a ban is counted once, by the request that begins it', async () => {
  const { take, show } = createCounted();
  for (let request = 1; request <= 130; request += 1) await take(1n, limitsOf('free'));

  const shown = await show();
  assert.match(shown, /limit_verdicts_total\{plan="free",verdict="refused"\} 60$/m);
  assert.match(shown, /limit_verdicts_total\{plan="free",verdict="banned"\} 10$/m);
  assert.match(shown, /bans_begun_total\{plan="free"\} 1$/m);
});

test('looking at an address counts nothing', async () => {
  const { limiter, show } = createCounted();
  await limiter.peekAddress('192.0.2.1');
  assert.doesNotMatch(await show(), /\} [1-9]/);
});
