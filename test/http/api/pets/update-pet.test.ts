import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { scopes } from '../../../../src/accounts/account.ts';
import { getPetRemovedAtMs } from '../../../../src/http/api/pets.ts';
import { expectError } from '../../../support/expect-error.ts';
import { exchangeRaw, expectStatuses, formatHeads } from '../../../support/raw-http.ts';
import { createMovableClock, startService, startWithKey } from '../../../support/service.ts';

const { service, key } = await startWithKey({ after }, {}, 'enterprise', undefined, { scopes });
const rex = { name: 'Rex', categoryId: 7, status: 'available' };
const merge = 'application/merge-patch+json';

async function add(body: object = rex): Promise<string> {
  const { id } = (await (await service.post(key, body)).json()) as { id: number };
  return `/pets/${id}`;
}

function patch(path: string, body: unknown, headers: Record<string, string> = {}) {
  return service.send(key, `PATCH ${path}`, body, { 'content-type': merge, ...headers });
}

function remove(path: string, headers?: Record<string, string>) {
  return service.send(key, `DELETE ${path}`, undefined, headers);
}

async function changeBoth(path: string, headers: Record<string, string>): Promise<Response[]> {
  return [await patch(path, { name: 'c' }, headers), await remove(path, headers)];
}

async function read(path: string): Promise<string> {
  return (await service.request(key, path)).text();
}

async function tagOf(path: string): Promise<string> {
  return (await service.request(key, path)).headers.get('etag') ?? assert.fail('no ETag');
}

test('PATCH /pets/{petId} gets 200 with the changed Pet and the same ETag as a GET', async () => {
  const path = await add();
  const response = await patch(path, { status: 'sold' });
  assert.equal(response.status, 200);
  const text = await response.text();
  assert.equal(text, await read(path));
  assert.match(text, /^\{"id":\d+,"name":"Rex","categoryId":7,"status":"sold"\}$/);
  assert.equal(response.headers.get('etag'), await tagOf(path));
});

test('DELETE /pets/{petId} gets 204 once and 404 from then on', async () => {
  const path = await add();
  const { status, headers } = await remove(path);
  assert.deepEqual([status, headers.get('content-length')], [204, null]);
  await expectError(await remove(path), 404, 'not_found');
  await expectError(await service.request(key, path), 404, 'not_found');
});

test('the connection stays usable after a 204, even if the request had a body', async (t) => {
  const { get } = formatHeads(key);
  const first = `${get.replace('GET /v1/pets', `DELETE /v1${await add()}`)}Content-Length: 2\r\n\r\n{}`;
  const second = `${get}Connection: close\r\n\r\n`;
  expectStatuses(await exchangeRaw(t, service.baseUrl, first + second), 204, 200);
});

test('PATCH accepts only a merge patch or JSON in UTF-8', async () => {
  const path = await add();
  const taken = [merge, 'application/json; charset=utf-8', 'Application/Merge-Patch+JSON;charset="UTF-8"'];
  for (const type of taken)
    assert.equal((await patch(path, { name: 'a' }, { 'content-type': type })).status, 200);
  const others = ['application/json-patch+json', 'application/xml; a=application/json'];
  for (const type of [...others, `${merge}2`, `${merge}; charset=latin1`])
    await expectError(await patch(path, {}, { 'content-type': type }), 415, 'unsupported_media_type');
});

const badFields = [
  '"name":""',
  '"name":"\\ud800"',
  '"categoryId":1.5',
  '"categoryId":"1"',
  '"status":"Sold"',
];
for (const bad of badFields)
  test(`PATCH with ${bad} gets 400 and changes nothing`, async () => {
    const path = await add();
    const before = await read(path);
    const response = await patch(path, `{"name":"changed","status":"sold",${bad}}`);
    const [field] = /\w+/.exec(bad) ?? assert.fail();
    assert.match(await expectError(response, 400, 'invalid_body'), new RegExp(`^${field} must`));
    assert.equal(await read(path), before);
  });

test('PATCH ignores unknown fields and the id, unless the client asks for strict handling', async () => {
  const path = await add();
  const response = await patch(path, { id: 1e6, is_owned: 1, colour: null, name: 'a' });
  assert.match(await response.text(), /^\{"id":\d{1,3},"name":"a"/);
  const strict = { prefer: 'handling=strict' };
  await expectError(await patch(path, { id: 1 }, strict), 400, 'invalid_body');
  await expectError(await patch(`${path}?a=1`, {}, strict), 400, 'invalid_parameter');
});

test('a PATCH that changes nothing gets 200 with the same ETag', async () => {
  const path = await add();
  for (const body of [{}, rex, { other: 1 }]) {
    const response = await patch(path, body, { 'if-match': await tagOf(path) });
    assert.deepEqual([response.status, response.headers.get('etag')], [200, await tagOf(path)]);
  }
});

test('If-Match accepts the ETag of a GET, of a PATCH and of a list of only the animal', async () => {
  const path = await add({ ...rex, status: 'pending' });
  const alone = await tagOf('/pets?status=pending&limit=1');
  let tag = await tagOf(path);
  for (const name of ['b', 'c', 'Rex']) {
    const response = await patch(path, { name }, { 'if-match': tag });
    assert.equal(response.status, 200);
    tag = response.headers.get('etag') ?? '';
  }
  assert.equal((await patch(path, { status: 'sold' }, { 'if-match': alone })).status, 200);
});

test('If-Match accepts * and a list of ETags', async () => {
  const path = await add();
  const tag = await tagOf(path);
  for (const value of ['*', ' * ', `"a", ${tag}`, `${tag},"b"`, `,, W/"x" ,\t${tag},`, `"a,b", ${tag}`])
    assert.equal((await patch(path, {}, { 'if-match': value })).status, 200, value);
  assert.equal((await remove(path, { 'if-match': `"x", ${tag}` })).status, 204);
});

test('a stale, unknown or weak ETag gets 412 and changes nothing', async () => {
  const path = await add();
  const stale = await tagOf(path);
  const now = (await patch(path, { name: 'b' })).headers.get('etag') ?? '';
  for (const value of [stale, '"x"', '""', `W/${now}`, `W/${now}, "x"`, `"a,${now.slice(1)}`, `"*"`])
    for (const response of await changeBoth(path, { 'if-match': value })) {
      const message = await expectError(response, 412, 'precondition_failed');
      assert.match(message, /^If-Match/);
      assert.equal(/a weak entity tag .* never matches/.test(message), value.startsWith('W/'));
    }
  assert.match(await read(path), /"name":"b"/);
});

const malformed = `|, ,|"a" "b"|*, "a"|"a", *|"a b"|a|"a|a"|'a'|w/"a"|"a",b`;
for (const value of malformed.split('|'))
  test(`a malformed If-Match, ${JSON.stringify(value)}, gets 400, even for an unknown animal`, async () => {
    for (const path of [await add(), '/pets/999999'])
      for (const response of await changeBoth(path, { 'if-match': value }))
        assert.match(await expectError(response, 400, 'invalid_parameter'), /^If-Match/);
  });

for (const petId of '999999 0 -1 abc 007 1.0 -0 9223372036854775808'.split(' '))
  test(`PATCH and DELETE of the id ${petId} get 404 with any If-Match`, async () => {
    for (const headers of [{}, { 'if-match': '*' }, { 'if-match': '"x"' }] as Record<string, string>[])
      for (const response of await changeBoth(`/pets/${petId}`, headers))
        await expectError(response, 404, 'not_found');
  });

test('a PATCH with several errors gets 400 or 415 before 404 before 412 before 409', async () => {
  const path = await add();
  const id = Number(path.slice('/pets/'.length));
  service.openFile().exec(`update pets set status = 'pending', is_owned = 1 where id = ${id}`);
  const stale = { 'if-match': '"x"' };
  await expectError(await patch('/pets/0', { status: null }, stale), 400, 'invalid_body');
  const text = { ...stale, 'content-type': 'text/plain' };
  await expectError(await patch('/pets/0', { status: null }, text), 415, 'unsupported_media_type');
  await expectError(await patch('/pets/0', { status: 'sold' }, stale), 404, 'not_found');
  await expectError(await patch(path, { status: 'sold' }, stale), 412, 'precondition_failed');
  const matching = { 'if-match': await tagOf(path) };
  for (const headers of [matching, {}])
    await expectError(await patch(path, { status: 'sold' }, headers), 409, 'pet_in_order');
  assert.equal((await patch(path, { status: 'pending', name: 'b' }, matching)).status, 200);
});

test('PATCH and DELETE still work after the removal of getPet, with the ETag of a list of only the animal', async (t) => {
  const late = await startService(t, {}, createMovableClock(getPetRemovedAtMs));
  const valid = await late.createKey('pro', undefined, { scopes });
  const added = await late.post(valid, rex);
  assert.equal(added.headers.get('location'), '/v1/pets?id=1');
  const tag = (await late.request(valid, '/pets')).headers.get('etag') ?? '';
  const sell = () => late.send(valid, 'PATCH /pets/1', { status: 'sold' }, { 'if-match': tag });
  const changed = await sell();
  assert.equal(changed.status, 200);
  await expectError(await sell(), 412, 'precondition_failed');
  const last = { 'if-match': changed.headers.get('etag') ?? '' };
  assert.equal((await late.send(valid, 'DELETE /pets/1', undefined, last)).status, 204);
});
