import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectCommonHeaders } from '../../../support/expect-error.ts';
import { formatRequest, openRaw } from '../../../support/raw-http.ts';
import { startService } from '../../../support/service.ts';

const service = await startService({ after });
const key = await service.createKey();

/** Adds an animal. Returns it as the answer to GET shows it. */
async function add(body: object): Promise<{ id: number; name: string; status: string }> {
  const added = await service.post(key, body);
  assert.equal(added.status, 201);
  const text = await added.text();
  const path = (added.headers.get('location') ?? '').slice('/v1'.length);
  assert.equal(await (await service.request(key, path)).text(), text);
  return JSON.parse(text);
}

test('POST /pets adds an animal and gets 201 with the Pet, whose id the service assigns', async () => {
  const before = await service.countPets();
  const response = await service.post(key, '{"status":"sold","categoryId":7,"name":"Rex","id":9876}');
  assert.equal(response.status, 201);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  expectCommonHeaders(response);
  assert.match(await response.text(), /^\{"id":\d{1,3},"name":"Rex","categoryId":7,"status":"sold"\}$/);
  assert.equal(await service.countPets(), before + 1);
});

test('every status is accepted, an animal without a status is available, and ids are positive and grow', async () => {
  const ids = [0];
  for (const status of ['available', 'pending', 'sold', undefined]) {
    const pet = await add({ name: 'Rex', categoryId: 7, status });
    assert.equal(pet.status, status ?? 'available');
    ids.push(pet.id);
  }
  assert.deepEqual(
    [...new Set(ids)],
    ids.toSorted((a, b) => a - b),
  );
});

for (const name of [
  '  Rex  ',
  '🐕‍🦺 Rex',
  'Ame\u0301lie',
  '"\\/<b>&amp;</b>',
  'a\u2028b\u2029c',
  '😀'.repeat(255),
  '007',
])
  test(`the name ${JSON.stringify(name.slice(0, 20))} is returned exactly as sent`, async () =>
    assert.equal((await add({ name, categoryId: 1 })).name, name));

const takenBodies: Readonly<Record<string, string>> = {
  'undocumented fields': '{"name":"Rex","categoryId":1,"tag":{"a":[null]},"photoUrls":[]}',
  'an unknown field that is nested 127 levels deep': `{"name":"Rex","categoryId":1,"tag":${'['.repeat(127)}${']'.repeat(127)}}`,
  'a field named __proto__': '{"name":"Rex","categoryId":1,"__proto__":{"status":"sold"}}',
  'a field named constructor': '{"name":"Rex","categoryId":1,"constructor":{"prototype":{"status":"sold"}}}',
  'leading and trailing white space': ' \r\n\t{ "name" : "Rex" , "categoryId" : 1 } \n',
  'escape sequences in names and values': '{"\\u006eame":"R\\u0065x","categoryId":1}',
  'a repeated field, the last of which counts': '{"name":1,"name":"Rex","categoryId":1}',
};
for (const [what, body] of Object.entries(takenBodies))
  test(`a body with ${what} is accepted`, async () => {
    const response = await service.post(key, body);
    assert.equal(response.status, 201);
    const { name, status } = (await response.json()) as { name: string; status: string };
    assert.deepEqual([name, status], ['Rex', 'available']);
  });

for (const type of [
  'application/json',
  'application/json;charset=utf-8',
  'Application/JSON; Charset="UTF-8"',
  'application/json; charset=us-ascii',
  'application/json; profile=x',
])
  test(`a body with the content type ${type} is accepted`, async () => {
    const response = await service.post(key, '{"name":"Rex","categoryId":1}', { 'content-type': type });
    assert.equal(response.status, 201);
  });

test('a body of exactly 65536 bytes and the content encoding identity are accepted', async () => {
  const body = '{"name":"Rex","categoryId":1}'.padEnd(65536, ' ');
  assert.equal((await service.post(key, body, { 'content-encoding': 'identity' })).status, 201);
});

test('a body that arrives after its head or byte by byte adds one animal', async (t) => {
  const before = await service.countPets();
  const body = '{"name":"Rex","categoryId":1}';
  const headers = {
    authorization: `Bearer ${key}`,
    connection: 'keep-alive',
    'content-type': 'application/json',
    'content-length': String(body.length),
  };
  const request = formatRequest('POST /v1/pets', headers, body);
  const connection = await openRaw(t, service.baseUrl);
  for (const parts of [[request], [request.slice(0, -body.length), body], [...request]]) {
    for (const part of parts) connection.send(part);
    assert.equal((await connection.read()).status, 201);
  }
  assert.equal(await service.countPets(), before + 3);
});
