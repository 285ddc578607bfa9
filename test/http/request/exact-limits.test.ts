import assert from 'node:assert/strict';
import { Agent, get } from 'node:http';
import { test } from 'node:test';
import type { Limits, PlanName } from '../../../src/plans/plan.ts';
import { startService } from '../../support/service.ts';

interface Outcome {
  readonly status: number;
  readonly remaining: number;
}

/** Sends `count` requests at once over 200 connections. */
async function sendAtOnce(url: string, key: string, count: number): Promise<Outcome[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const headers = { authorization: `Bearer ${key}` };
  const send = () =>
    new Promise<Outcome>((resolve, reject) => {
      get(url, { agent, headers }, (response) => {
        response.resume();
        const remaining = Number(response.headers['x-ratelimit-remaining']);
        response.on('end', () => resolve({ status: response.statusCode ?? 0, remaining }));
      }).on('error', reject);
    });
  const outcomes = await Promise.all(Array.from({ length: count }, send));
  agent.destroy();
  return outcomes;
}

const plans: readonly (readonly [PlanName, Limits | undefined, passes: number, count: number])[] = [
  ['free', undefined, 60, 10_000],
  ['business', undefined, 1_000, 3_000],
  ['enterprise', { perMinute: 7, perDay: 10 }, 7, 1_000],
];

for (const [plan, limits, passes, count] of plans)
  test(`exactly ${passes} of ${count} simultaneous requests pass on ${plan}, and their headers count down without a gap`, async (t) => {
    const service = await startService(t);
    const key = await service.createKey(plan, limits);
    const outcomes = await sendAtOnce(`${service.baseUrl}/pets`, key, count);
    const passed = outcomes.filter(({ status }) => status === 200);
    assert.deepEqual(
      passed.map(({ remaining }) => remaining).sort((a, b) => b - a),
      Array.from({ length: passes }, (_, index) => passes - 1 - index),
    );
    assert.equal(outcomes.filter(({ status }) => status === 429).length, count - passes);
  });
