import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectError } from '../../support/expect-error.ts';
import { exchangeOne, formatHeads } from '../../support/raw-http.ts';
import { nextOf, startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after });
await service.importPets(1);
const rex = { name: 'Rex', categoryId: 1 };

function get(path: string, prefer: string): Promise<Response> {
  return service.request(key, path, { headers: { prefer } });
}

test('a request is handled strictly only if the first handling in its Prefer headers is strict', async (t) => {
  const spelled =
    'handling=strict|handling="strict"|Handling=Strict|handling = strict|handling=strict; wait=10';
  const first =
    'respond-async, handling=strict|handling=strict, handling=lenient|return=minimal;x="y",handling=strict';
  for (const prefer of `${spelled}|${first}`.split('|')) {
    const message = await expectError(await get('/pets?unknown=1', prefer), 400, 'invalid_parameter');
    assert.match(message, /^unknown /, prefer);
  }
  const others = 'handling|handling=stricter|strict|x-handling=strict|return=representation|';
  for (const prefer of `handling=lenient|handling=lenient, handling=strict|${others}`.split('|'))
    assert.equal((await get('/pets?unknown=1', prefer)).status, 200, prefer);
  const text = `${formatHeads(key).get.replace('pets', 'pets?unknown=1')}Prefer: respond-async\r\n`;
  const twice = `${text}Prefer: handling=strict\r\nConnection: close\r\n\r\n`;
  await expectError(await exchangeOne(t, service.baseUrl, twice), 400, 'invalid_parameter');
});

const unknownParameters: Readonly<Record<string, string>> = {
  'GET /pets?limit=5&status=sold&page=2': 'page',
  'GET /pets?limit[]=5': 'limit\\[\\]',
  'GET /pets?Limit=5': 'Limit',
  'GET /pets?__proto__=1': '__proto__',
  'GET /pets?constructor=1': 'constructor',
  'GET /pets?=1': 'an empty name',
  'GET /pets/1?limit=5': 'limit',
  'POST /pets?limit=5': 'limit',
};
for (const [line, name] of Object.entries(unknownParameters))
  test(`${line} with strict handling gets a 400 that names the parameter`, async () => {
    const body = line.startsWith('POST') ? rex : undefined;
    const response = await service.send(key, line, body, { prefer: 'handling=strict' });
    assert.match(await expectError(response, 400, 'invalid_parameter'), new RegExp(`^${name} `));
  });

for (const field of ['id', 'tag', 'Name', '__proto__', 'constructor', 'toString'])
  test(`a body with the unknown field ${field} and strict handling gets a 400 that names the field`, async () => {
    const before = await service.countPets();
    const body = `{"name":"Rex","categoryId":1,"${field}":null}`;
    const response = await service.post(key, body, { prefer: 'handling=strict' });
    assert.match(await expectError(response, 400, 'invalid_body'), new RegExp(`^${field} `));
    assert.equal(await service.countPets(), before);
  });

test('documented parameters and fields and the link to the next page are accepted with strict handling', async () => {
  const headers = { prefer: 'handling=strict' };
  assert.equal((await service.post(key, { ...rex, status: 'sold' }, headers)).status, 201);
  assert.equal((await get('/pets?limit=1&status=sold', 'handling=strict')).status, 200);
  assert.equal((await get('/pets/1', 'handling=strict')).status, 200);
  await service.importPets(3);
  const next = nextOf(await get('/pets?limit=1', 'handling=strict'));
  assert.equal((await get(next ?? '', 'handling=strict')).status, 200);
});

test('an error does not repeat an API key that was sent as a parameter name', async () => {
  for (const path of [`/pets?${key}=1`, `/pets/1?${key}`]) {
    const response = await service.request(key, path, { headers: { prefer: 'handling=strict' } });
    assert.equal(response.status, 400);
    assert.ok(!(await response.text()).includes(key));
  }
});
