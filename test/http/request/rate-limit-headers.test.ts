import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { minuteMs } from '../../../src/clock.ts';
import { expectCommonHeaders, expectError, expectHeaders } from '../../support/expect-error.ts';
import { exchangeOne, expectStatuses } from '../../support/raw-http.ts';
import { startService, startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after }, {}, 'pro');
await service.importPets(3);

type Sent = readonly [status: number, line: string, body?: unknown, headers?: Record<string, string>];

/** A request for each status that does not need a special state of the service. */
const requests: readonly Sent[] = [
  [200, 'GET /pets'],
  [200, 'HEAD /pets'],
  [200, 'GET /pets/1'],
  [201, 'POST /pets', { name: 'Rex', categoryId: 1 }],
  [304, 'GET /pets', undefined, { 'if-none-match': '*' }],
  [400, 'GET /pets?limit=0'],
  [400, 'POST /pets', '{'],
  [400, 'GET /%zz'],
  [404, 'GET /pets/999'],
  [404, 'GET /nothing'],
  [405, 'DELETE /pets'],
  [413, 'POST /pets', ' '.repeat(65_537)],
  [415, 'POST /pets', 'x', { 'content-type': 'text/plain' }],
];
for (const [status, line, body, headers] of requests)
  test(`the ${status} of ${line} has the limits of the account and counts as one request`, async () => {
    const left = (await service.readLeft(key)) - 1;
    const response = await service.send(key, line, body, headers);
    assert.equal(response.status, status);
    expectCommonHeaders(response);
    expectHeaders(response, { 'x-ratelimit-limit': '300', 'x-ratelimit-remaining': `${left}` });
    assert.equal(response.headers.get('ratelimit-policy'), '"minute";q=300;w=60, "day";q=10000;w=86400');
    assert.match(response.headers.get('ratelimit') ?? '', new RegExp(`^"minute";r=${left};t=60, "day";r=`));
    assert.equal(response.headers.get('x-ratelimit-reset'), String((service.clock.now() + minuteMs) / 1000));
    assert.equal(response.headers.get('retry-after'), null);
  });

test('a 401, an unknown path and a malformed request share the limits of the address', async (t) => {
  const fresh = await startService(t);
  const responses = [
    await exchangeOne(t, fresh.baseUrl, 'garbage\r\n\r\n'),
    await fresh.request(null, '/pets'),
    await fresh.request('as_stg_wrong', '/pets'),
    await fetch(`${fresh.app.url}/nothing`),
    await fresh.request(null, '/%zz'),
  ];
  expectStatuses(responses, 400, 401, 401, 404, 401);
  for (const [index, response] of responses.entries()) {
    expectCommonHeaders(response);
    expectHeaders(response, { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': `${59 - index}` });
    assert.equal(response.headers.get('ratelimit-policy'), '"minute";q=60;w=60, "day";q=1000;w=86400');
  }
});

test('over the limit every request gets 429 with the Error body, Retry-After and the limits', async (t) => {
  const limits = { perMinute: 2, perDay: 1_000 };
  const { service: spent, key: spentKey } = await startWithKey(t, {}, 'enterprise', limits);
  await spent.importPets(1);
  await spent.request(spentKey, '/pets');
  await spent.request(spentKey, '/pets');
  for (const [, line, body, headers] of requests) {
    const response = await spent.send(spentKey, line, body, headers);
    assert.equal(response.status, 429, line);
    expectHeaders(response, { 'retry-after': '60', 'x-ratelimit-remaining': '0' });
    if (line.startsWith('HEAD')) expectCommonHeaders(response);
    else await expectError(response, 429, 'rate_limit_exceeded');
  }
  assert.equal(await spent.countPets(), 1);
});

test('a banned key gets 429 key_banned with the end of the ban in Retry-After and X-RateLimit-Reset', async (t) => {
  const limits = { perMinute: 1, perDay: 1_000 };
  const { service: strict, key: banned } = await startWithKey(t, {}, 'enterprise', limits);
  for (let round = 0; round < 61; round += 1) await strict.request(banned, '/pets');
  const response = await strict.request(banned, '/pets');
  const reset = String((strict.clock.now() + minuteMs) / 1000);
  await expectError(response, 429, 'key_banned', { 'retry-after': '60', 'x-ratelimit-reset': reset });
});
