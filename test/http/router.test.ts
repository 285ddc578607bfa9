import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { after, test } from 'node:test';
import { expectError } from '../support/expect-error.ts';
import { exchangeRaw, formatRequest, openRaw, type RawResponse } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

const service = await startService({ after });
const key = await service.createKey();
await service.importPets(3);

async function send(t: Parameters<typeof openRaw>[0], line: string): Promise<RawResponse> {
  const headers = { authorization: `Bearer ${key}` };
  const [response] = await exchangeRaw(t, service.baseUrl, formatRequest(line, headers));
  return response ?? assert.fail(`no response to ${line}`);
}

const allowed: Readonly<Record<string, string>> = {
  '/v1/pets': 'GET, HEAD, POST',
  '/v1/pets/1': 'DELETE, GET, HEAD, PATCH',
  '/v1/pets/none': 'DELETE, GET, HEAD, PATCH',
  '/openapi.json': 'GET, HEAD',
};
for (const [path, allow] of Object.entries(allowed))
  for (const method of METHODS.filter((name) => name !== 'CONNECT' && !allow.split(', ').includes(name)))
    test(`${method} ${path} gets 405, and Allow lists ${allow}`, async (t) => {
      const response = await send(t, `${method} ${path}`);
      const message = await expectError(response, 405, 'method_not_allowed');
      assert.equal(message, `${method} is not allowed here; allowed: ${allow}`);
      assert.equal(response.headers.get('allow'), allow);
    });

for (const [path, allow] of Object.entries(allowed))
  test(`every method that Allow lists for ${path} is supported`, async () => {
    for (const method of allow.split(', ')) {
      const init = { method, headers: { authorization: `Bearer ${key}` } };
      assert.notEqual((await fetch(service.app.url + path, init)).status, 405);
    }
  });

for (const target of [
  '/v1',
  '/v1/',
  '/v1/nothing',
  '/v1/pet',
  '/v1/petss',
  '/v1/PETS',
  '/V1/pets',
  '/v1/pets/1/',
  '/v1/pets/1/name',
  '/v1//pets',
  '//v1/pets',
  '/v1/pets//1',
  '/v1%2Fpets',
  '/v1/./pets',
  '/v1/pets/../pets',
  '/v1/pets;x=1',
  '/v2/pets',
  '/openapi-json',
  '/openapiXjson',
  '*',
  '*v1/pets',
])
  for (const method of ['GET', 'DELETE'])
    test(`${method} ${target} gets 404`, async (t) => {
      const response = await send(t, `${method} ${target}`);
      assert.equal(await expectError(response, 404, 'not_found'), 'no such endpoint');
      assert.equal(response.headers.get('allow'), null);
    });

for (const target of ['/%76%31/pets', '/v1/p%65ts', 'http://localhost/v1/pets', '/v1/pets?', '/v1/pets#x'])
  test(`${target} is equivalent to /v1/pets`, async (t) => {
    const response = await send(t, `GET ${target}`);
    assert.equal(response.status, 200);
    const refused = await send(t, `DELETE ${target}`);
    await expectError(refused, 405, 'method_not_allowed');
    assert.equal(refused.headers.get('allow'), 'GET, HEAD, POST');
  });

for (const target of ['/v1/%zz', '/v1/pets/%', '/v1/pets/%ff', '/v1/pets/%c0%80', '/%zz'])
  for (const method of ['GET', 'DELETE', 'PROPFIND'])
    test(`${method} ${target}, which cannot be decoded, gets 400`, async (t) => {
      await expectError(await send(t, `${method} ${target}`), 400, 'invalid_parameter');
    });

test('CONNECT gets 405', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  connection.send('CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  const [response, ...others] = await connection.readAll();
  await expectError(response ?? assert.fail(), 405, 'method_not_allowed');
  assert.equal(response?.headers.get('allow'), 'DELETE, GET, HEAD, PATCH, POST, PUT');
  assert.deepEqual(others, []);
});

test('CONNECT with a body that never ends gets 405', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  connection.send('CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc');
  const [response] = await connection.readAll();
  await expectError(response ?? assert.fail(), 405, 'method_not_allowed');
});

test('the service continues after a client has closed a CONNECT before the answer', async (t) => {
  for (let round = 0; round < 20; round += 1) {
    const connection = await openRaw(t, service.baseUrl);
    connection.send('CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    connection.reset();
  }
  assert.equal((await service.request(key, '/pets')).status, 200);
});

test('an unknown method gets 400', async (t) => {
  await expectError(await send(t, 'ADOPT /v1/pets'), 400, 'invalid_parameter');
});

test('a method in lower case is refused', async (t) => {
  await expectError(await send(t, 'get /v1/pets'), 400, 'invalid_parameter');
});

test('requests with refused addresses and methods change nothing', async () => {
  assert.equal(await service.countPets(), 3);
});
