import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import { dayMs } from '../../src/clock.ts';
import type { ErrorCode } from '../../src/errors.ts';
import { expectError } from '../support/expect-error.ts';
import { exchangeRaw, formatRequest, openRaw, type RawResponse } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

const service = await startService({ after });
const key = await service.createKey();
const rex = '{"name":"Rex","categoryId":1}';
const host = 'Host: localhost\r\n';
const authorization = `Authorization: Bearer ${key}\r\n`;
const get = `GET /v1/pets HTTP/1.1\r\n${host}${authorization}`;
const post = `POST /v1/pets HTTP/1.1\r\n${host}${authorization}Content-Type: application/json\r\n`;
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;

// What cannot be read is counted by address: each test begins with a day of its own.
beforeEach(() => service.clock.advance(dayMs));
afterEach(async () => assert.doesNotMatch(service.readLog(), /"status":5/));

async function remainingOf(withKey: string | null): Promise<number> {
  const { headers } = await service.request(withKey, '/nothing');
  return Number(headers.get('x-ratelimit-remaining'));
}

const unreadable: readonly (readonly [what: string, text: string, status: number, code: ErrorCode])[] = [
  ['text that is no HTTP', 'garbage\r\n\r\n', 400, 'invalid_parameter'],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'invalid_parameter'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'invalid_parameter'],
  ['an unknown version of HTTP', `GET /v1/pets HTTP/1.2\r\n${host}\r\n`, 400, 'invalid_parameter'],
  ['a request line without a target', `GET HTTP/1.1\r\n${host}\r\n`, 400, 'invalid_parameter'],
  ['a target with a blank', `GET /v1/pets x HTTP/1.1\r\n${host}\r\n`, 400, 'invalid_parameter'],
  ['a target that is no path', `GET v1/pets HTTP/1.1\r\n${host}\r\n`, 400, 'invalid_parameter'],
  ['a header without a colon', `${get}nonsense\r\n\r\n`, 400, 'invalid_parameter'],
  ['a blank before the colon of a header', `${get}X : y\r\n\r\n`, 400, 'invalid_parameter'],
  ['a header with a NUL', `${get}X: a\x00b\r\n\r\n`, 400, 'invalid_parameter'],
  ['a header that goes on in the next line', `${get}X: a\r\n b\r\n\r\n`, 400, 'invalid_parameter'],
  ['lines that end in LF alone', `${get}\r\n`.replaceAll('\r', ''), 400, 'invalid_parameter'],
  ['a header of 20,000 bytes', `${get}X: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['many headers of 20,000 bytes', `${get}${'X: y\r\n'.repeat(4_000)}\r\n`, 431, 'headers_too_large'],
  ['a head of 2 MB', `${get}X: ${'a'.repeat(2_000_000)}\r\n\r\n`, 431, 'headers_too_large'],
  [
    'a target of 20,000 bytes',
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${host}\r\n`,
    431,
    'headers_too_large',
  ],
  ['two lengths', `${post}Content-Length: 29\r\nContent-Length: 28\r\n\r\n${rex}`, 400, 'invalid_parameter'],
  [
    'the same length twice',
    `${post}Content-Length: 29\r\nContent-Length: 29\r\n\r\n${rex}`,
    400,
    'invalid_parameter',
  ],
  ['a length with a sign', `${post}Content-Length: +29\r\n\r\n${rex}`, 400, 'invalid_parameter'],
  ['a length below zero', `${post}Content-Length: -1\r\n\r\n${rex}`, 400, 'invalid_parameter'],
  ['a length that is no number', `${post}Content-Length: 29, 29\r\n\r\n${rex}`, 400, 'invalid_parameter'],
  [
    'a length and chunks',
    `${post}Content-Length: 29\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
    'invalid_parameter',
  ],
  [
    'chunks and a length',
    `${post}Transfer-Encoding: chunked\r\nContent-Length: 29\r\n\r\n0\r\n\r\n`,
    400,
    'invalid_parameter',
  ],
];
for (const [what, text, status, code] of unreadable)
  test(`${what} is ${status} ${code}, with every header, and ends the connection`, async (t) => {
    const [response, ...others] = await exchangeRaw(t, service.baseUrl, text);
    await expectError(response ?? assert.fail('no response'), status, code);
    assert.equal(response?.headers.get('connection'), 'close');
    assert.equal(response?.headers.get('x-ratelimit-limit'), '60');
    assert.deepEqual(others, []);
    assert.equal(await service.countPets(), 0);
  });

test('what cannot be read is counted by address, once each, and past the limit is 429', async (t) => {
  for (let left = 59; left >= 0; left -= 1) {
    const [response] = await exchangeRaw(t, service.baseUrl, 'garbage\r\n\r\n');
    assert.equal(response?.headers.get('x-ratelimit-remaining'), String(left));
  }
  const [refused] = await exchangeRaw(t, service.baseUrl, 'garbage\r\n\r\n');
  await expectError(refused ?? assert.fail(), 429, 'rate_limit_exceeded');
  assert.equal(refused?.headers.get('retry-after'), '60');
});

test('garbage that comes in many pieces is answered and counted once', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  connection.send('garbage\r\n\r\n');
  const response = await connection.read();
  assert.equal(response.status, 400);
  for (let piece = 0; piece < 20; piece += 1) connection.send('more garbage\r\n\r\n');
  assert.deepEqual(await connection.readAll(), []);
  assert.equal(await remainingOf(null), 58);
});

const brokenBodies: readonly (readonly [what: string, parts: string[], status: number, code: ErrorCode])[] = [
  ['a chunk whose size is no number', [chunked, 'zz\r\n'], 400, 'invalid_body'],
  ['a chunk that is longer than it says', [chunked, '5\r\n{"name":"Rex"', '\r\n'], 400, 'invalid_body'],
  ['chunks that end in LF alone', [chunked, '2\n{}\n0\n\n'], 400, 'invalid_body'],
  [
    'a chunk extension of 20,000 bytes',
    [chunked, `2;${'a'.repeat(20_000)}\r\n{}\r\n`],
    413,
    'payload_too_large',
  ],
  [
    'trailers of 20,000 bytes',
    [chunked, `2\r\n{}\r\n0\r\nX: ${'a'.repeat(20_000)}\r\n`],
    431,
    'headers_too_large',
  ],
  ['a transfer coding without chunks', [`${post}Transfer-Encoding: gzip\r\n\r\n`, 'xx'], 400, 'invalid_body'],
];
for (const [what, parts, status, code] of brokenBodies)
  test(`a body of ${what} is ${status} ${code}, counted for the key's account and not for the address`, async (t) => {
    for (const sent of [parts, [parts.join('')]]) {
      const before = await remainingOf(key);
      const [response, ...others] = await exchangeRaw(t, service.baseUrl, ...sent);
      await expectError(response ?? assert.fail('no response'), status, code);
      assert.equal(response?.headers.get('x-ratelimit-limit'), '1000000');
      assert.equal(response?.headers.get('x-ratelimit-remaining'), String(before - 1));
      assert.equal(response?.headers.get('connection'), 'close');
      assert.deepEqual(others, []);
    }
    assert.equal(await remainingOf(null), 59);
    assert.equal(await service.countPets(), 0);
  });

test('a body that breaks off while its key is still being looked up is counted for the account, too', async (t) => {
  const fresh = await service.createKey();
  const [response] = await exchangeRaw(t, service.baseUrl, `${chunked.replace(key, fresh)}zz\r\n`);
  await expectError(response ?? assert.fail(), 400, 'invalid_body');
  assert.equal(response?.headers.get('x-ratelimit-remaining'), '999999');
  assert.equal(await remainingOf(null), 59);
});

test('a body that breaks off after its request was refused brings no second answer', async (t) => {
  const text = `POST /v1/pets HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`;
  const connection = await openRaw(t, service.baseUrl);
  connection.send(text);
  await expectError(await connection.read(), 401, 'api_key_missing');
  connection.send('zz\r\n');
  assert.deepEqual(await connection.readAll(), []);
  assert.equal(await remainingOf(null), 58);
});

test('requests in a row that end in garbage are answered in order, the garbage last and once', async (t) => {
  const before = await remainingOf(key);
  const body = `Content-Length: ${rex.length}\r\n\r\n${rex}`;
  const text = `${get}\r\n${post}${body}${get.replace('pets', 'pets/none')}\r\ngarbage\r\n\r\n`;
  const responses = await exchangeRaw(t, service.baseUrl, text, 'and more\r\n\r\n');
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200, 201, 404, 400],
  );
  const limits = responses.map(({ headers }) => headers.get('x-ratelimit-remaining'));
  assert.deepEqual(limits, [`${before - 1}`, `${before - 2}`, `${before - 3}`, '59']);
  assert.equal(await remainingOf(null), 58);
  service.openFile().exec('delete from pets');
});

test('answers that are kept ready come in order, too, before that to the garbage behind them', async (t) => {
  await (await service.request(key, '/pets')).text();
  const responses = await exchangeRaw(t, service.baseUrl, `${`${get}\r\n`.repeat(50)}garbage\r\n\r\n`);
  assert.deepEqual(
    responses.map(({ status }) => status),
    [...Array<number>(50).fill(200), 400],
  );
});

test('an answer that takes its time comes before that to the garbage behind it', async (t) => {
  const file = service.openFile();
  file.exec('begin immediate');
  const connection = await openRaw(t, service.baseUrl);
  connection.send(`${post}Content-Length: ${rex.length}\r\n\r\n${rex}garbage\r\n\r\n`);
  await service.untilCounted(key, 1);
  connection.send('still garbage\r\n\r\n');
  file.exec('rollback');
  const responses = await connection.readAll();
  assert.deepEqual(
    responses.map(({ status }) => status),
    [201, 400],
  );
  assert.equal(await remainingOf(null), 58);
  file.exec('delete from pets');
});

test('HTTP/1.1 without Host is 400 and counted for the account', async (t) => {
  const text = `GET /v1/pets HTTP/1.1\r\n${authorization}Connection: close\r\n\r\n`;
  const [response] = await exchangeRaw(t, service.baseUrl, text);
  assert.match(await expectError(response ?? assert.fail(), 400, 'invalid_parameter'), /^Host/);
  assert.equal(response?.headers.get('x-ratelimit-limit'), '1000000');
});

test('two Host headers are 400, the same host twice, too', async (t) => {
  for (const second of ['localhost', 'evil.example']) {
    const text = `${get}Host: ${second}\r\nConnection: close\r\n\r\n`;
    const [response] = await exchangeRaw(t, service.baseUrl, text);
    assert.match(await expectError(response ?? assert.fail(), 400, 'invalid_parameter'), /^Host/);
  }
});

test('a key comes before the Host', async (t) => {
  const [response] = await exchangeRaw(
    t,
    service.baseUrl,
    'GET /v1/pets HTTP/1.1\r\nConnection: close\r\n\r\n',
  );
  await expectError(response ?? assert.fail(), 401, 'api_key_missing');
});

test('HTTP/1.0 is served, without a Host, and the connection ends', async (t) => {
  const responses = await exchangeRaw(t, service.baseUrl, `GET /v1/pets HTTP/1.0\r\n${authorization}\r\n`);
  assert.deepEqual(
    responses.map(({ status }) => status),
    [200],
  );
});

test('an Upgrade is not taken: the request is answered as it stands', async (t) => {
  const text = formatRequest('GET /v1/pets', {
    authorization: `Bearer ${key}`,
    connection: 'Upgrade, close',
    upgrade: 'websocket',
  });
  const [response] = await exchangeRaw(t, service.baseUrl, text);
  assert.equal(response?.status, 200);
});

test('Expect: 100-continue is told to go on, then answered', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  connection.send(`${post}Expect: 100-continue\r\nContent-Length: ${rex.length}\r\n\r\n`);
  assert.equal((await connection.read()).status, 100);
  connection.send(rex);
  assert.equal((await connection.read()).status, 201);
  service.openFile().exec('delete from pets');
});

test('another expectation is passed over', async (t) => {
  const text = `${get}Expect: a miracle\r\nConnection: close\r\n\r\n`;
  const [response] = await exchangeRaw(t, service.baseUrl, text);
  assert.equal(response?.status, 200);
});

test('a client that stops sending in the head is 400', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  connection.send(`${get}X: y`);
  connection.end();
  const [response] = await connection.readAll();
  await expectError(response ?? assert.fail(), 400, 'invalid_parameter');
});

test('a client that stops sending in the body is 400 and adds nothing', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  connection.send(`${post}Content-Length: 100\r\n\r\n${rex}`);
  connection.end();
  const [response] = await connection.readAll();
  await expectError(response ?? assert.fail(), 400, 'invalid_body');
  assert.equal(await service.countPets(), 0);
});

test('a client that cuts the connection anywhere leaves no failure in the log and no animal in the store', async (t) => {
  const text = `${post}Content-Length: ${rex.length}\r\n\r\n${rex}`;
  const cuts = [1, 10, post.length, post.length + 20, text.length - 1];
  for (const cut of cuts) {
    const connection = await openRaw(t, service.baseUrl);
    connection.send(text.slice(0, cut));
    await service.request(key, '/pets');
    connection.reset();
  }
  await service.request(key, '/pets');
  assert.equal(await service.countPets(), 0);
});

test('a client that cuts the connection behind its request does the service no harm', async (t) => {
  const file = service.openFile();
  file.exec('begin immediate');
  const connections = await Promise.all(Array.from({ length: 10 }, () => openRaw(t, service.baseUrl)));
  for (const connection of connections) connection.send(`${post}Content-Length: ${rex.length}\r\n\r\n${rex}`);
  await service.untilCounted(key, connections.length);
  for (const connection of connections) connection.reset();
  await service.request(key, '/pets');
  file.exec('rollback');
  assert.equal((await service.request(key, '/pets')).status, 200);
});

test('a service under garbage goes on serving those who speak HTTP', async (t) => {
  const noise = Array.from({ length: 200 }, (_, n) => exchangeRaw(t, service.baseUrl, `\x00${n}\r\n\r\n`));
  const served: number[] = [];
  for (let round = 0; round < 20; round += 1) served.push((await service.request(key, '/pets')).status);
  assert.ok(served.every((status) => status === 200));
  const answered = (await Promise.all(noise)).map(([response]: RawResponse[]) => response?.status);
  assert.ok(answered.every((status) => status === 400 || status === 429));
});
