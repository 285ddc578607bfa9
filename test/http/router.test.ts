import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { after, beforeEach, test } from 'node:test';
import { dayMs } from '../../src/clock.ts';
import { operations } from '../../src/http/api/operations.ts';
import { expectError } from '../support/expect-error.ts';
import { exchangeOne, formatRequest, openRaw, type RawResponse } from '../support/raw-http.ts';
import { type Ending, startWithKey } from '../support/service.ts';

const { service, key } = await startWithKey({ after });
await service.importPets(3);

// Requests without a key count for the address, so each test starts on a new day.
beforeEach(() => service.clock.advance(dayMs));

function send(t: Ending, line: string, isAnonymous = false): Promise<RawResponse> {
  const headers = isAnonymous ? {} : { authorization: `Bearer ${key}` };
  return exchangeOne(t, service.baseUrl, formatRequest(line, headers));
}

const allowed: Readonly<Record<string, string>> = {
  '/v1/pets': 'GET, HEAD, POST',
  '/v1/pets/1': 'DELETE, GET, HEAD, PATCH',
  '/v1/pets/none': 'DELETE, GET, HEAD, PATCH',
  '/openapi.json': 'GET, HEAD',
};
for (const [path, allow] of Object.entries(allowed))
  test(`every method but ${allow} gets 405 for ${path}`, async (t) => {
    for (const method of METHODS.filter((name) => name !== 'CONNECT' && !allow.split(', ').includes(name))) {
      const response = await send(t, `${method} ${path}`);
      const message = await expectError(response, 405, 'method_not_allowed', { allow });
      assert.equal(message, `${method} is not allowed here; allowed: ${allow}`);
    }
    for (const method of allow.split(', ')) {
      const init = { method, headers: { authorization: `Bearer ${key}` } };
      assert.notEqual((await fetch(service.app.url + path, init)).status, 405);
    }
  });

const unknown =
  '/v1 /v1/ /v1/nothing /v1/pet /v1/petss /v1/PETS /V1/pets /v1/pets/1/ /v1/pets/1/name /v1//pets /v1/pets//1 /v1%2Fpets /v1%2fpets/1 /v1/./pets /v1/../v1/pets /v1/pets/../pets /v1/pets;x=1 /v1?x /v1#x /%76%31/nothing';
const ofPets =
  '/v1/pets /%76%31/pets /v1/%70ets /v1/p%65ts /v1/pets? /v1/pets#x http://localhost/v1/pets HTTPS://evil.example:1/%76%31/pets';
const undecodable = '/v1/%zz /v1/pets/% /v1/pets/%ff /v1/pets/%c0%80 /%zz /%76%31/%ff';

/** Targets under `/v1`, with the status of GET and DELETE with a key. */
const protectedTargets = [
  ...unknown.split(' ').map((target) => [target, 404, 404] as const),
  ...ofPets.split(' ').map((target) => [target, 200, 405] as const),
  ...undecodable.split(' ').map((target) => [target, 400, 400] as const),
];
const codes = { 400: 'invalid_parameter', 404: 'not_found', 405: 'method_not_allowed' } as const;

for (const [target, ofGet, ofDelete] of protectedTargets)
  test(`GET and DELETE of ${target} get ${ofGet} and ${ofDelete} only with a key`, async (t) => {
    for (const [method, status] of [['GET', ofGet] as const, ['DELETE', ofDelete] as const]) {
      await expectError(await send(t, `${method} ${target}`, true), 401, 'api_key_missing');
      const response = await send(t, `${method} ${target}`);
      if (status === 200) assert.equal(response.status, 200);
      else await expectError(response, status, codes[status]);
      assert.equal(response.headers.get('allow'), status === 405 ? 'GET, HEAD, POST' : null);
    }
  });

const outside =
  '//v1/pets /./v1/pets /x/../v1/pets /%2576%2531/pets /\\v1/pets /pets * *v1/pets /nothing /v0/pets /v2/pets /v11 /openapi-json /openapiXjson /api/v1/pets';
for (const target of outside.split(' '))
  test(`${target} reaches no operation, with or without a key`, async (t) => {
    for (const isAnonymous of [true, false]) {
      const response = await send(t, `GET ${target}`, isAnonymous);
      assert.equal(await expectError(response, 404, 'not_found'), 'no such endpoint');
    }
  });

for (const { id, method, path } of operations.filter((operation) => operation.path.includes('{')))
  test(`${id} without its identifier is no endpoint`, async (t) => {
    for (const target of [path, `${path}?x=1`].map((one) => `/v1${one.replaceAll(/\{\w+\}/g, '')}`)) {
      const response = await send(t, `${method} ${target}`);
      const message = await expectError(response, 404, 'not_found', { allow: null });
      assert.match(message, /^no such endpoint/);
    }
  });

test('the message for a path with a slash at its end names the slash', async (t) => {
  const response = await send(t, 'GET /v1/pets/');
  const message = await expectError(response, 404, 'not_found');
  assert.equal(message, 'no such endpoint: the path must not end in /');
});

test('CONNECT gets 405, even with a body that never ends', async (t) => {
  for (const more of ['\r\n', 'Content-Length: 100\r\n\r\nabc']) {
    const text = `CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n${more}`;
    const response = await exchangeOne(t, service.baseUrl, text);
    const allow = 'DELETE, GET, HEAD, PATCH, POST, PUT';
    await expectError(response, 405, 'method_not_allowed', { allow });
  }
});

test('the service continues after a client has closed a CONNECT before the answer', async (t) => {
  for (let round = 0; round < 20; round += 1) {
    const connection = await openRaw(
      t,
      service.baseUrl,
      'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n',
    );
    connection.reset();
  }
  assert.equal((await service.request(key, '/pets')).status, 200);
});

test('an unknown method and a method in lower case get 400', async (t) => {
  for (const line of ['ADOPT /v1/pets', 'get /v1/pets'])
    await expectError(await send(t, line), 400, 'invalid_parameter');
});

test('requests with refused addresses and methods change nothing', async () => {
  assert.equal(await service.countPets(), 3);
});
