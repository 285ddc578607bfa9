import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { AnimalStore, type Attempt, type Pet } from '../../client/src/index.ts';
import { expectFailure, openShop } from './shop.ts';

const { apiKey, baseUrl, connect, client } = await openShop({ after });
const categoryId = 9223372036854775807n;

test('request returns the exact value, the unchanged text and the headers for any address', async () => {
  const added = await client.request<Pet>('POST', '/pets', { body: { name: 'Rex', categoryId } });
  assert.equal(added.value.categoryId, categoryId);
  const { id } = added.value;
  assert.equal(added.text, `{"id":${id},"name":"Rex","categoryId":${categoryId},"status":"available"}`);
  assert.equal(added.response.status, 201);
  assert.match(added.response.headers.get('location') ?? '', /\/pets\/\d+$/);

  const listed = await client.request<Pet[]>('GET', '/pets', { query: { limit: 1, categoryId } });
  assert.deepEqual(listed.value, [added.value]);
  const deleted = await client.request('DELETE', `/pets/${id}`);
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

test('a POST is repeated only if that can neither act twice nor lose a secret', async () => {
  const headers = { 'Idempotency-Key': 'once' };
  const post =
    (path: `/${string}`, own = {}) =>
    (to: AnimalStore) =>
      to.request('POST', path, { body: {}, headers: own });
  const secrets = ['/keys', '/keys/key_1/rotate', '/webhooks', '/webhooks/1/rotate-secret'] as const;
  for (const [status, code, expected, ...calls] of [
    [429, 'rate_limit_exceeded', 2, post('/pets')],
    [503, 'unavailable', 1, post('/pets'), ...secrets.map((path) => post(path, headers))],
    [503, 'unavailable', 1, (to: AnimalStore) => to.keys.create({ scopes: ['pets:read'] })],
    [503, 'unavailable', 1, (to: AnimalStore) => to.keys.rotate('key_1')],
    [503, 'unavailable', 1, (to: AnimalStore) => to.webhooks.create({ url: 'https://a.example' })],
    [503, 'unavailable', 2, post('/pets', headers)],
  ] as const)
    for (const call of calls) {
      let sent = 0;
      const fetch = async () => {
        sent += 1;
        return Response.json({ code, message: 'no', status }, { status, headers: { 'retry-after': '0' } });
      };
      await expectFailure(call(connect({ fetch, maxRetries: 1, maxWaitMs: 1 })), code);
      assert.equal(sent, expected, `${status} ${call}`);
    }
});

test('debug is called after each request with the request and its result, but never with the key', async () => {
  const attempts: Attempt[] = [];
  const watched = connect({ debug: (attempt) => attempts.push(attempt) });
  await watched.pets.list({ limit: 3 });
  await expectFailure(watched.request('GET', '/no/such/thing'), 'not_found');
  assert.equal(attempts.length, 2);
  assert.partialDeepStrictEqual(attempts, [
    { operation: 'listPets', method: 'GET', url: `${baseUrl}/pets?limit=3`, status: 200, error: null },
    { operation: null, method: 'GET', url: `${baseUrl}/no/such/thing`, status: 404 },
  ]);
  assert.notEqual(attempts[1]?.error, null);
  assert.ok(attempts.every(({ requestId, durationMs }) => requestId !== null && durationMs >= 0));
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
