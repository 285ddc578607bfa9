import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { expectCommonHeaders, expectError } from '../../support/expect-error.ts';
import { startService } from '../../support/service.ts';

const pages = ['/llms.txt', '/docs', '/docs/limits', '/docs/none', '/openapi.json'];

async function open(t: TestContext) {
  const service = await startService(t);
  const read = (path: string, headers: Record<string, string> = {}) =>
    fetch(service.app.url + path, { headers });
  return { ...service, read };
}

test('the documentation has its own limit for each address, with or without a key', async (t) => {
  const { read, createKey, readLeft } = await open(t);
  const key = await createKey('free');
  let sent = 0;
  for (const path of pages)
    for (const headers of [{}, { authorization: `Bearer ${key}` }]) {
      const response = await read(path, headers);
      sent += 1;
      expectCommonHeaders(response);
      assert.equal(response.headers.get('x-ratelimit-remaining'), String(600 - sent), path);
      assert.equal(response.headers.get('ratelimit-policy'), '"minute";q=600;w=60, "day";q=20000;w=86400');
    }
  for (const by of [key, null]) assert.equal(await readLeft(by), 59);
});

test('wrong keys block neither the documentation nor a valid key from the same address', async (t) => {
  const { read, request, createKey } = await open(t);
  const key = await createKey();
  for (let sent = 0; sent < 61; sent += 1) await request('as_stg_wrong', '/pets');
  await expectError(await request(null, '/pets'), 429, 'rate_limit_exceeded');
  const headers = { authorization: 'Bearer as_stg_wrong' };
  assert.equal((await read('/openapi.json', headers)).status, 200);
  assert.equal((await request(key, '/pets')).status, 200);
});

test('only the documentation gets 429 after 600 of its requests in a minute', async (t) => {
  const { read, request } = await open(t);
  for (let sent = 0; sent < 600; sent += 1) await (await read('/docs/none')).text();
  await expectError(await read('/openapi.json'), 429, 'rate_limit_exceeded');
  assert.equal((await request(null, '/pets')).status, 401);
});
