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
  ['pro', undefined, 300, 3_000],
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

for (const [what, path, init] of [
  ['reads', '/pets', {}],
  ['adds', '/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' }],
  ['unknown addresses', '/nothing', {}],
] as const)
  test(`of 121 successive ${what} on Free, the first 60 pass, the next 60 are refused, and the last is banned`, async (t) => {
    const service = await startService(t);
    const key = await service.createKey('free');
    const codes: unknown[] = [];
    const headers = { 'content-type': 'application/json' };
    for (let number = 0; number < 121; number += 1) {
      const response = await service.request(key, path, { ...init, headers });
      const { code } = (await response.json()) as { readonly code?: string };
      codes.push(response.status === 429 ? code : 'passed');
    }
    const expected = [...Array(60).fill('passed'), ...Array(60).fill('rate_limit_exceeded'), 'key_banned'];
    assert.deepEqual(codes, expected);
  });

test('exactly 60 of 100 simultaneous adds pass on Free, and each adds one animal', async (t) => {
  const service = await startService(t);
  const key = await service.createKey('free');
  const adding = Array.from({ length: 100 }, () => service.post(key, { name: 'Rex', categoryId: 1 }));
  const statuses = (await Promise.all(adding)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 201).length, 60);
  assert.equal(statuses.filter((status) => status === 429).length, 40);
  assert.equal(await service.countPets(), 60);
});
