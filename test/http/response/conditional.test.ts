import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectCommonHeaders } from '../../support/expect-error.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ after });
const key = await service.createKey();
await service.importPets(30);

async function readEtag(path: string): Promise<string> {
  const response = await service.request(key, path);
  await response.text();
  return response.headers.get('etag') ?? '';
}

function ask(path: string, ifNoneMatch: string): Promise<Response> {
  return service.request(key, path, { headers: { 'if-none-match': ifNoneMatch } });
}

for (const path of ['/pets', '/pets?status=sold&limit=5', '/pets/7']) {
  test(`a 200 of ${path} has a strong ETag that stays while nothing changes`, async () => {
    const etag = await readEtag(path);
    assert.match(etag, /^"[\w-]{22}"$/);
    assert.equal(await readEtag(path), etag);
  });

  test(`answers 304 without a body for ${path} while nothing has changed`, async () => {
    const etag = await readEtag(path);
    const response = await ask(path, etag);
    assert.equal(response.status, 304);
    assert.equal(await response.text(), '');
    assert.equal(response.headers.get('etag'), etag);
    assert.equal(response.headers.get('content-type'), null);
    expectCommonHeaders(response);
  });
}

test('takes a weak validator, a list of validators and * for a match', async () => {
  const etag = await readEtag('/pets');
  for (const ifNoneMatch of [`W/${etag}`, `"other", ${etag}`, `"a",W/"b" ,\t${etag},"c"`, '*'])
    assert.equal((await ask('/pets', ifNoneMatch)).status, 304, ifNoneMatch);
});

test('answers 200 to a validator that is another, unquoted or empty', async () => {
  const etag = await readEtag('/pets');
  for (const ifNoneMatch of ['"other"', etag.slice(1, -1), etag.toLowerCase(), '', 'W/*', '"*"'])
    assert.equal((await ask('/pets', ifNoneMatch)).status, 200, ifNoneMatch);
});

test('pages that differ have ETags that differ', async () => {
  const paths = ['/pets', '/pets?limit=5', '/pets?status=sold', '/pets/1', '/pets/2'];
  assert.equal(new Set(await Promise.all(paths.map(readEtag))).size, paths.length);
});

test('a 304 keeps the Link of its page', async () => {
  const response = await ask('/pets', await readEtag('/pets'));
  assert.match(response.headers.get('link') ?? '', /rel="next"/);
});

test('a page and an animal may be kept by the client alone, and asked about each time', async () => {
  for (const path of ['/pets', '/pets/7'])
    assert.equal((await service.request(key, path)).headers.get('cache-control'), 'private, no-cache');
});

test('If-None-Match answers 200 with another ETag once an animal was added', async () => {
  const etag = await readEtag('/pets');
  await service.post(key, { name: 'new', categoryId: 1 });
  const response = await ask('/pets', etag);
  assert.equal(response.status, 200);
  assert.notEqual(response.headers.get('etag'), etag);
  assert.equal(((await response.json()) as { name: string }[])[0]?.name, 'new');
});

test('an animal that another process imported is seen by the next If-None-Match', async () => {
  const etag = await readEtag('/pets');
  await service.importPets(1);
  assert.equal((await ask('/pets', etag)).status, 200);
});

test('the ETag of a later page stays when an animal is added', async () => {
  const first = await service.request(key, '/pets?limit=10');
  const next = (/<\/v1([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '') as string;
  const etag = await readEtag(next);
  await service.post(key, { name: 'newer', categoryId: 1 });
  assert.equal((await ask(next, etag)).status, 304);
});

test('If-None-Match of an animal that is none is 404, of * too', async () => {
  assert.equal((await ask('/pets/999999', '*')).status, 404);
});

test('If-None-Match does not keep an animal from being added', async () => {
  const response = await service.post(key, { name: 'x', categoryId: 1 }, { 'if-none-match': '*' });
  assert.equal(response.status, 201);
});
