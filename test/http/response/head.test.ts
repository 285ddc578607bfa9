import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { untilRendered } from '../../support/documentation.ts';
import { formatHeads, openRaw } from '../../support/raw-http.ts';
import { startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after });
const writeOnlyKey = await service.createKey('enterprise', undefined, { scopes: ['pets:write'] });
await service.importPets(30);
await untilRendered(service.app.url);

/** Headers that differ between requests, or that fetch requests differently for HEAD. */
const changing = ['x-request-id', 'x-ratelimit-remaining', 'ratelimit', 'date', 'connection', 'keep-alive'];

async function readHead(method: string, path: string, sent: Record<string, string>) {
  const response = await fetch(service.app.url + path, { method, headers: sent });
  await response.text();
  const headers = [...response.headers].filter(([name]) => !changing.includes(name));
  return { status: response.status, headers: Object.fromEntries(headers) };
}

for (const [path, withKey, status] of [
  ['/pets?status=sold&limit=3', key, 200],
  ['/pets/7', key, 200],
  ['/pets/none', key, 404],
  ['/pets?limit=0', key, 400],
  ['/nothing', key, 404],
  ['/pets', null, 401],
  ['/pets', writeOnlyKey, 403],
] as const)
  test(`the ${status} of HEAD ${path} has the headers of GET, including Content-Length`, async () => {
    const sent = withKey === null ? {} : { authorization: `Bearer ${withKey}` };
    const head = await readHead('HEAD', `/v1${path}`, sent);
    assert.deepEqual(head, await readHead('GET', `/v1${path}`, sent));
    assert.equal(head.status, status);
    assert.ok(Number(head.headers['content-length']) > 0);
  });

test('a response to HEAD has no body, so that the next response follows its head directly', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  const get = `${formatHeads(key).get}\r\n`;
  const head = get.replace('GET', 'HEAD');
  connection.send(head + head.replace('pets', 'pets/x') + get.replace('pets', 'pets/7'));
  assert.equal((await connection.read('bodiless')).status, 200);
  assert.equal((await connection.read('bodiless')).status, 404);
  assert.match((await connection.read()).body, /^\{"id":7,/);
});

for (const path of ['/v1/pets', '/v1/pets/7', '/openapi.json', '/docs'])
  test(`HEAD ${path} gets 304 if GET does, with the same headers`, async () => {
    const authorization = `Bearer ${key}`;
    const whole = await fetch(service.app.url + path, { headers: { authorization } });
    await whole.text();
    const ask = (method: string) =>
      readHead(method, path, { authorization, 'if-none-match': whole.headers.get('etag') ?? '' });
    const { status, headers } = await ask('HEAD');
    assert.deepEqual({ status, headers }, await ask('GET'));
    assert.equal(status, 304);
  });
