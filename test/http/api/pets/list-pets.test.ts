import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectCommonHeaders, expectError } from '../../../support/expect-error.ts';
import { exchangeRaw, formatRequest } from '../../../support/raw-http.ts';
import { startService } from '../../../support/service.ts';

interface Listed {
  readonly id: number;
  readonly name: string;
  readonly status: string;
}

const service = await startService({ after });
const key = await service.createKey();
await service.importPets(120);

async function list(query: string): Promise<Listed[]> {
  const response = await service.request(key, `/pets${query}`);
  assert.equal(response.status, 200);
  return (await response.json()) as Listed[];
}

test('the list of an empty store is an empty array', async (t) => {
  const empty = await startService(t);
  const response = await empty.request(await empty.createKey(), '/pets');
  assert.equal(response.status, 200);
  assert.equal(await response.text(), '[]');
  assert.equal(response.headers.get('link'), null);
});

test('GET /pets gets 200 with a JSON array of Pets, whose fields are in the documented order', async () => {
  const response = await service.request(key, '/pets?limit=2');
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
  expectCommonHeaders(response);
  assert.equal(
    await response.text(),
    '[{"id":120,"name":"n120","categoryId":120,"status":"sold"},{"id":119,"name":"n119","categoryId":119,"status":"pending"}]',
  );
});

test('a page has as many animals as limit says, and 20 if it is omitted', async () => {
  for (const limit of [1, 20, 99, 100]) assert.equal((await list(`?limit=${limit}`)).length, limit);
  assert.equal((await list('')).length, 20);
});

const wrongLimits =
  '0 101 -1 +5 %2B5 05 1.0 1.5 1e1 0x10 abc %205 5%20 5%00 5status=available 2=2 null 9007199254740993 99999999999999999999 %D9%A5 5&limit=5 5&limit=500'.split(
    ' ',
  );
const wrongStatuses = 'Available SOLD lost available,sold %20sold sold&status=sold sold&status=pending'.split(
  ' ',
);
for (const [name, values] of Object.entries({ limit: wrongLimits, status: wrongStatuses }))
  for (const query of [name, `${name}=`, ...values.map((value) => `${name}=${value}`)])
    test(`?${query} gets 400, and the message names ${name}`, async () => {
      const response = await service.request(key, `/pets?${query}`);
      assert.match(await expectError(response, 400, 'invalid_parameter'), new RegExp(`^${name} must be `));
    });

for (const [query, same] of [
  ['limit=2&', 'limit=2'],
  ['limit=%32', 'limit=2'],
  ['l%69mit=2', 'limit=2'],
  ['status=sol%64', 'status=sold'],
  ['limit=2&unknown=1', 'limit=2'],
] as const)
  test(`?${query} is equivalent to ?${same}`, async () => {
    assert.deepEqual(await list(`?${query}`), await list(`?${same}`));
  });

test('the message names all invalid parameters', async () => {
  const response = await service.request(key, '/pets?limit=0&status=x&cursor=');
  const message = await expectError(response, 400, 'invalid_parameter');
  assert.match(message, /limit .*status .*cursor /);
});

for (const query of ['unknown=1', 'limit[]=5', 'Limit=500', '__proto__=1', 'constructor=1', '', '&&', '=1'])
  test(`?${query} has no known parameter and is ignored`, async () => {
    assert.equal((await list(`?${query}`)).length, 20);
  });

test('the body of a GET is ignored', async (t) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/plain', 'content-length': '4' };
  const [response] = await exchangeRaw(t, service.baseUrl, formatRequest('GET /v1/pets', headers, '{bad'));
  assert.equal(response?.status, 200);
});
