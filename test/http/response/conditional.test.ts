import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scopes } from '../../../src/accounts/account.ts';
import { secondMs } from '../../../src/clock.ts';
import { expectCommonHeaders, expectHeaders } from '../../support/expect-error.ts';
import { until } from '../../support/processes.ts';
import { nextOf, startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after }, {}, 'enterprise', undefined, { scopes });
await service.importPets(30);
// The list of keys shows their last use, which the service writes twice a second.
const listKeys = async () => (await service.request(key, '/keys')).text();
await until(listKeys, (listed) => !listed.includes('"lastUsedAt":null'), 10 * secondMs);

async function readEtag(path: string): Promise<string> {
  const response = await service.request(key, path);
  await response.text();
  return response.headers.get('etag') ?? '';
}

function ask(path: string, ifNoneMatch: string): Promise<Response> {
  return service.request(key, path, { headers: { 'if-none-match': ifNoneMatch } });
}

test('a 200 has a strong ETag that gets 304 until something changes', async () => {
  const paths = ['/pets', '/pets?limit=5', '/pets?status=sold&limit=5', '/pets/7', '/pets/8'];
  for (const path of paths) {
    const etag = await readEtag(path);
    assert.match(etag, /^"[\w-]{22}"$/);
    assert.equal(await readEtag(path), etag);
    const response = await ask(path, etag);
    assert.equal(response.status, 304);
    assert.equal(await response.text(), '');
    expectHeaders(response, { etag, 'content-type': null, 'cache-control': 'private, no-cache' });
    assert.equal(/rel="next"/.test(response.headers.get('link') ?? ''), /pets(?:\?|$)/.test(path));
    expectCommonHeaders(response);
  }
  assert.equal(new Set(await Promise.all(paths.map(readEtag))).size, paths.length);
});

test('If-None-Match accepts a weak ETag, a list of ETags and *', async () => {
  const etag = await readEtag('/pets');
  for (const ifNoneMatch of [`W/${etag}`, `"other", ${etag}`, `"a",W/"b" ,\t${etag},"c"`, '*'])
    assert.equal((await ask('/pets', ifNoneMatch)).status, 304, ifNoneMatch);
});

test('an If-None-Match that differs, is unquoted or is empty gets 200', async () => {
  const etag = await readEtag('/pets');
  for (const ifNoneMatch of ['"other"', etag.slice(1, -1), etag.toLowerCase(), '', 'W/*', '"*"'])
    assert.equal((await ask('/pets', ifNoneMatch)).status, 200, ifNoneMatch);
});

test('an added animal changes the ETag of the first page, but not of a later one', async () => {
  const etag = await readEtag('/pets');
  const next = nextOf(await service.request(key, '/pets?limit=10')) ?? '';
  const later = await readEtag(next);
  await service.post(key, { name: 'new', categoryId: 1 });
  const response = await ask('/pets', etag);
  assert.equal(response.status, 200);
  assert.notEqual(response.headers.get('etag'), etag);
  assert.equal(((await response.json()) as { name: string }[])[0]?.name, 'new');
  assert.equal((await ask(next, later)).status, 304);
});

for (const [path, line, body] of [
  ['/keys', 'POST /keys', { scopes: ['pets:read'] }],
  ['/categories', 'PUT /categories/3', { name: 'Dogs' }],
  ['/orders', 'POST /orders', { petId: 1 }],
  ['/webhooks', 'POST /webhooks', { url: 'https://partner.example/' }],
  ['/events?limit=100', 'DELETE /pets/2', undefined],
] as const)
  test(`the ETag of ${path} stays the same until ${line}`, async () => {
    const etag = await readEtag(path);
    const same = await ask(path, etag);
    assert.deepEqual([same.status, nextOf(same)], [304, nextOf(await service.request(key, path))]);
    assert.ok((await service.send(key, line, body)).ok);
    assert.equal((await ask(path, etag)).status, 200);
  });

test('If-None-Match of * gets 404 for an unknown animal', async () => {
  assert.equal((await ask('/pets/999999', '*')).status, 404);
});

test('If-None-Match does not prevent an add', async () => {
  const response = await service.post(key, { name: 'x', categoryId: 1 }, { 'if-none-match': '*' });
  assert.equal(response.status, 201);
});
