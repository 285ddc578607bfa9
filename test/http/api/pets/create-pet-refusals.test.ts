import assert from 'node:assert/strict';
import { after, afterEach, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { expectError } from '../../../support/expect-error.ts';
import { formatRequest, openRaw } from '../../../support/raw-http.ts';
import { startService } from '../../../support/service.ts';

const service = await startService({ after });
const key = await service.createKey();
const rex = { name: 'Rex', categoryId: 1 };

afterEach(async () => assert.equal(await service.countPets(), 0, 'the store has changed'));

const badValues: Readonly<Record<string, readonly unknown[]>> = {
  name: [
    undefined,
    null,
    1,
    true,
    ['Rex'],
    {},
    '',
    'R'.repeat(256),
    '😀'.repeat(256),
    ' \u00a0\u3000\u0085\ufeff',
    'R\u0000ex',
    'Rex\ud83d',
  ],
  categoryId: [undefined, null, '1', true, [1], { value: 1 }],
  status: [null, '', 'Available', 'lost', 0, false, ['sold'], {}],
};
for (const [field, values] of Object.entries(badValues))
  for (const value of values)
    test(`a body with the ${field} ${JSON.stringify(value)?.slice(0, 20)} gets 400, and the message names the field`, async () => {
      const response = await service.post(key, { ...rex, [field]: value });
      assert.match(await expectError(response, 400, 'invalid_body'), new RegExp(`^${field} `));
    });

const noInt64 =
  '1.5 1e-1 1e400 -1e400 1.00000000000000000001 9223372036854775808 -9223372036854775809 1e19'.split(' ');
for (const literal of noInt64)
  test(`a categoryId of ${literal} gets 400`, async () => {
    const response = await service.post(key, `{"name":"Rex","categoryId":${literal}}`);
    assert.match(await expectError(response, 400, 'invalid_body'), /^categoryId must be an integer/);
  });

test('the message names all invalid fields', async () => {
  const message = await expectError(await service.post(key, { name: '', status: null }), 400, 'invalid_body');
  assert.match(message, /name .*categoryId .*status /);
});

const nested = '['.repeat(20_000) + ']'.repeat(20_000);
const badBodies: Readonly<Record<string, string | Buffer>> = {
  'broken JSON': '{"name":"Rex",',
  'JSON with a trailing comma': '{"name":"Rex","categoryId":1,}',
  'JSON with a comment': '{"name":"Rex","categoryId":1/**/}',
  'a number with a leading zero': '{"name":"Rex","categoryId":01}',
  'a number with a leading plus': '{"name":"Rex","categoryId":+1}',
  NaN: '{"name":"Rex","categoryId":NaN}',
  'text after the object': '{"name":"Rex","categoryId":1}x',
  'two objects': '{"name":"Rex","categoryId":1}{"name":"Rex","categoryId":1}',
  'a NUL byte': '{"name":"R\u0000ex","categoryId":1}',
  'only white space': ' \n',
  null: 'null',
  'an array': '[{"name":"Rex","categoryId":1}]',
  'a string': '"Rex"',
  'a number': '1',
  true: 'true',
  'fields only in the prototype': '{"__proto__":{"name":"Rex","categoryId":1}}',
  'an object nested one level too deep': `{"name":"Rex","categoryId":1,"tag":${'['.repeat(128)}${']'.repeat(128)}}`,
  '20,000 nested arrays': nested,
  '20,000 nested arrays in a field that is ignored': `{"name":"Rex","categoryId":1,"tag":${nested}}`,
  '10,000 nested objects': `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  'a byte order mark': Buffer.from('\ufeff{"name":"Rex","categoryId":1}'),
  'a byte that is invalid in UTF-8': Buffer.from('{"name":"R\xffx","categoryId":1}', 'latin1'),
  'an overlong form in UTF-8': Buffer.from('{"name":"R\xc0\x80x","categoryId":1}', 'latin1'),
  'a surrogate in UTF-8': Buffer.from('{"name":"R\xed\xa0\x80x","categoryId":1}', 'latin1'),
  'UTF-16': Buffer.from('{"name":"Rex","categoryId":1}', 'utf16le'),
};
for (const [what, body] of Object.entries(badBodies))
  test(`a body of ${what} gets 400`, async () => {
    const headers = { 'content-type': 'application/json' };
    const response = await service.request(key, '/pets', { method: 'POST', headers, body });
    await expectError(response, 400, 'invalid_body');
  });

test('a request with a content type but without a body and a length is answered', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  for (const [line, status] of [
    ['POST /v1/pets', 400],
    ['POST /v1/nothing', 404],
    ['PUT /v1/pets', 405],
    ['PUT /v1/pets/1', 405],
    ['GET /v1/pets', 200],
  ] as const) {
    connection.send(formatRequest(line, { ...headers, connection: 'keep-alive' }));
    assert.equal((await connection.read()).status, status, line);
  }
});

for (const type of [
  'text/plain',
  'application/problem+json',
  'application/jsonp',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'application/json, application/json',
  'json',
  '*/*',
])
  test(`a body with the content type ${type} gets 415`, async () => {
    const response = await service.post(key, rex, { 'content-type': type });
    await expectError(response, 415, 'unsupported_media_type');
  });

test('a body without a content type gets 415', async () => {
  const response = await service.request(key, '/pets', {
    method: 'POST',
    body: Buffer.from(JSON.stringify(rex)),
  });
  await expectError(response, 415, 'unsupported_media_type');
});

for (const encoding of ['gzip', 'br', 'deflate', 'gzip, identity'])
  test(`a body with the content encoding ${encoding} gets 415`, async () => {
    const response = await service.request(key, '/pets', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      body: gzipSync(JSON.stringify(rex)),
    });
    await expectError(response, 415, 'unsupported_media_type');
  });

test('a chunked body of 3 MB gets 413, and a client can read the answer while it is still sending', async () => {
  for (let round = 0; round < 10; round += 1) {
    const response = await service.request(key, '/pets', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: new ReadableStream({
        async start(controller) {
          for (let part = 0; part < 46; part += 1) {
            controller.enqueue(new Uint8Array(65_536));
            await new Promise((resolve) => setImmediate(resolve));
          }
          controller.close();
        },
      }),
      duplex: 'half',
    });
    await expectError(response, 413, 'payload_too_large');
  }
});

test('a refused body leaves the connection open for the next request', async () => {
  const response = await service.post(key, '{"name":');
  assert.equal(response.headers.get('connection'), 'keep-alive');
  await expectError(response, 400, 'invalid_body');
});
