import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, get, type IncomingMessage } from 'node:http';
import { test } from 'node:test';
import type { Limits, PlanName } from '../../../src/plans/plan.ts';
import { startWithKey } from '../../support/service.ts';

/** Sends `count` requests at once over 200 connections. Returns their answers. */
async function sendAtOnce(url: string, key: string, count: number): Promise<IncomingMessage[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 200 });
  const send = async () => {
    const request = get(url, { agent, headers: { authorization: `Bearer ${key}` } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await once(response.resume(), 'end');
    return response;
  };
  const answers = await Promise.all(Array.from({ length: count }, send));
  agent.destroy();
  return answers;
}

const plans: readonly (readonly [PlanName, Limits | undefined, passes: number, count: number])[] = [
  ['free', undefined, 60, 10_000],
  ['business', undefined, 1_000, 3_000],
  ['enterprise', { perMinute: 7, perDay: 10 }, 7, 1_000],
];

for (const [plan, limits, passes, count] of plans)
  test(`exactly ${passes} of ${count} simultaneous requests pass on ${plan}`, async (t) => {
    const { service, key } = await startWithKey(t, {}, plan, limits);
    const answers = await sendAtOnce(`${service.baseUrl}/pets`, key, count);
    const passed = answers.filter(({ statusCode }) => statusCode === 200);
    const left = passed.map(({ headers }) => Number(headers['x-ratelimit-remaining']));
    left.sort((a, b) => a - b);
    assert.deepEqual(left, [...Array(passes).keys()]);
    assert.equal(answers.filter(({ statusCode }) => statusCode === 429).length, count - passes);
  });
