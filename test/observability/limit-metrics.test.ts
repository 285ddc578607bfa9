import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { countVerdicts } from '../../src/observability/limit-metrics.ts';
import { type Limits, type PlanName, resolvePlan } from '../../src/plans/plan.ts';

const nowMs = Date.UTC(2027, 0, 2, 12);

function limitsOf(name: PlanName, custom: Partial<Limits> = {}): Limits {
  const plan = resolvePlan(name, custom);
  if ('problem' in plan) throw new Error(plan.problem);
  return plan.limits;
}

function createCounted() {
  const registry = new Registry();
  const counters = countVerdicts(createMemoryCounters(), registry);
  return { counters, show: () => registry.metrics() };
}

test('verdicts are counted by plan', async () => {
  const { counters, show } = createCounted();
  for (let request = 1; request <= 62; request += 1)
    await counters.take('account:1', limitsOf('free'), 'key_1', nowMs);
  await counters.take('account:2', limitsOf('pro'), 'key_2', nowMs);
  await counters.take('account:3', limitsOf('enterprise', { perMinute: 60, perDay: 1_000 }), 'key_3', nowMs);

  const shown = await show();
  assert.match(shown, /limit_verdicts_total\{plan="free",verdict="passed"\} 60$/m);
  assert.match(shown, /limit_verdicts_total\{plan="free",verdict="refused"\} 2$/m);
  assert.match(shown, /limit_verdicts_total\{plan="pro",verdict="passed"\} 1$/m);
  assert.match(shown, /limit_verdicts_total\{plan="enterprise",verdict="passed"\} 1$/m);
  assert.match(shown, /limit_verdicts_total\{plan="none",verdict="passed"\} 0$/m);
});

test('a request without a valid key is counted with the plan "none"', async () => {
  const { counters, show } = createCounted();
  await counters.take('address:192.0.2.1', limitsOf('free'), null, nowMs);
  assert.match(await show(), /limit_verdicts_total\{plan="none",verdict="passed"\} 1$/m);
});

test('a ban is counted once, by the request that begins it', async () => {
  const { counters, show } = createCounted();
  for (let request = 1; request <= 130; request += 1)
    await counters.take('account:1', limitsOf('free'), 'key_1', nowMs);

  const shown = await show();
  assert.match(shown, /limit_verdicts_total\{plan="free",verdict="refused"\} 60$/m);
  assert.match(shown, /limit_verdicts_total\{plan="free",verdict="banned"\} 10$/m);
  assert.match(shown, /bans_begun_total\{plan="free"\} 1$/m);
});

test('looking at an address counts nothing', async () => {
  const { counters, show } = createCounted();
  await counters.look('address:192.0.2.1', nowMs);
  assert.doesNotMatch(await show(), /\} [1-9]/);
});
