import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AnimalStore, type Attempt, type Pet } from '../../client/src/index.ts';
import { scopes } from '../../src/accounts/account.ts';
import { startService } from '../support/service.ts';
import { expectFailure } from './expect-failure.ts';

const service = await startService({ after });
const apiKey = await service.createKey('enterprise', undefined, { scopes });
const { baseUrl } = service;
const client = new AnimalStore({ apiKey, baseUrl });
const categoryId = 9223372036854775807n;

test('request returns the exact value, the unchanged text and the headers for any address', async () => {
  const added = await client.request<Pet>('POST', '/pets', { body: { name: 'Rex', categoryId } });
  assert.equal(added.value.categoryId, categoryId);
  assert.equal(
    added.text,
    `{"id":${added.value.id},"name":"Rex","categoryId":${categoryId},"status":"available"}`,
  );
  assert.equal(added.response.status, 201);
  assert.match(added.response.headers.get('location') ?? '', /\/pets\/\d+$/);

  const listed = await client.request<Pet[]>('GET', '/pets', { query: { limit: 1, categoryId } });
  assert.deepEqual(listed.value, [added.value]);
  const deleted = await client.request('DELETE', `/pets/${added.value.id}`);
  assert.deepEqual([deleted.value, deleted.response.status], [undefined, 204]);
});

test('a header replaces the header of the client, whatever the case of its name', async () => {
  const { value } = await client.request<Pet>('POST', '/pets', { body: { name: 'Rex', categoryId } });
  const headers = { 'Content-Type': 'application/merge-patch+json' };
  const changed = await client.request<Pet>('PATCH', `/pets/${value.id}`, { body: { name: 'Max' }, headers });
  assert.equal(changed.value.name, 'Max');
});

test('request returns a 304 for content that has not changed', async () => {
  const { response } = await client.request('GET', '/pets');
  const headers = { 'if-none-match': response.headers.get('etag') ?? '' };
  const same = await client.request('GET', '/pets', { headers });
  assert.deepEqual([same.value, same.text, same.response.status], [undefined, null, 304]);
});

/** Creates a client whose requests all get the same failure, and counts the requests. */
function failWith(status: number, code: string) {
  let sent = 0;
  const fetch = async () => {
    sent += 1;
    const headers = { 'content-type': 'application/json', 'retry-after': '0' };
    return new Response(JSON.stringify({ code, message: 'no', status }), { status, headers });
  };
  const failing = new AnimalStore({ apiKey, baseUrl, fetch, maxRetries: 1, maxWaitMs: 1 });
  return { failing, countSent: () => sent };
}

test('a POST without an idempotency key is repeated only after a 429', async () => {
  for (const [status, code, headers, expected] of [
    [429, 'rate_limit_exceeded', {}, 2],
    [503, 'unavailable', {}, 1],
    [503, 'unavailable', { 'Idempotency-Key': 'once' }, 2],
  ] as const) {
    const { failing, countSent } = failWith(status, code);
    await expectFailure(failing.request('POST', '/pets', { body: {}, headers }), code);
    assert.equal(countSent(), expected, `${status} ${JSON.stringify(headers)}`);
  }
});

test('a request for a secret is repeated only after a 429, even with an idempotency key', async () => {
  const { failing, countSent } = failWith(503, 'unavailable');
  const headers = { 'idempotency-key': 'once' };
  for (const path of ['/keys', '/keys/key_1/rotate', '/webhooks', '/webhooks/1/rotate-secret'] as const)
    await expectFailure(failing.request('POST', path, { body: {}, headers }), 'unavailable');
  for (const call of [
    failing.keys.create({ scopes: ['pets:read'] }),
    failing.keys.rotate('key_1'),
    failing.webhooks.create({ url: 'https://a.example' }),
  ])
    await expectFailure(call, 'unavailable');
  assert.equal(countSent(), 7);
});

test('debug is called after each request with the request and its result, but never with the key', async () => {
  const attempts: Attempt[] = [];
  const watched = new AnimalStore({ apiKey, baseUrl, debug: (attempt) => attempts.push(attempt) });
  await watched.pets.list({ limit: 3 });
  await expectFailure(watched.request('GET', '/no/such/thing'), 'not_found');
  const told = attempts.map(({ operation, method, url, status }) => [operation, method, url, status]);
  assert.deepEqual(told, [
    ['listPets', 'GET', `${baseUrl}/pets?limit=3`, 200],
    [null, 'GET', `${baseUrl}/no/such/thing`, 404],
  ]);
  assert.ok(attempts.every(({ requestId, durationMs }) => requestId !== null && durationMs >= 0));
  assert.deepEqual(
    attempts.map(({ error }) => error === null),
    [true, false],
  );
  assert.ok(!JSON.stringify(attempts).includes(apiKey));
});

test('the key and the base address default to environment variables', async (t) => {
  t.after(() => {
    delete process.env['ANIMAL_STORE_KEY'];
    delete process.env['ANIMAL_STORE_URL'];
  });
  process.env['ANIMAL_STORE_KEY'] = apiKey;
  process.env['ANIMAL_STORE_URL'] = baseUrl;
  assert.ok(Array.isArray((await new AnimalStore().pets.list()).items));
  await expectFailure(new AnimalStore({ apiKey: 'as_dev_wrong' }).pets.list(), 'api_key_invalid');
});
