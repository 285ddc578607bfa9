import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, afterEach, beforeEach, type TestContext, test } from 'node:test';
import { dayMs } from '../../../src/clock.ts';
import type { ErrorCode } from '../../../src/errors.ts';
import { lingerBytesMax } from '../../../src/http/connection/bounds.ts';
import { expectError } from '../../support/expect-error.ts';
import {
  exchangeOne,
  exchangeRaw,
  expectStatuses,
  formatHeads,
  openRaw,
  rexText as rex,
} from '../../support/raw-http.ts';
import { startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after });
const { host, authorization, get, post, add } = formatHeads(key);
const garbage = 'garbage\r\n\r\n';
const connectLine = `CONNECT a:80 HTTP/1.1\r\n${host}\r\n`;

// Unreadable requests count for the address, so each test starts on a new day.
beforeEach(() => service.clock.advance(dayMs));
afterEach(async () => assert.doesNotMatch(service.readLog(), /"status":5/));

/** Throws unless a text gets one Error that closes its connection, with the limit of an account or of an address. */
async function expectLast(t: TestContext, text: string, status: number, code: ErrorCode, limit: string) {
  const response = await exchangeOne(t, service.baseUrl, text);
  return expectError(response, status, code, { connection: 'close', 'x-ratelimit-limit': limit });
}

const unreadable: readonly (readonly [what: string, text: string, status: number, code: ErrorCode])[] = [
  ['text that is not HTTP', garbage, 400, 'invalid_parameter'],
  ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400, 'invalid_parameter'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'invalid_parameter'],
  ['an unknown HTTP version', `GET /v1/pets HTTP/1.2\r\n${host}\r\n`, 400, 'invalid_parameter'],
  ['a request line without a target', `GET HTTP/1.1\r\n${host}\r\n`, 400, 'invalid_parameter'],
  ['a target with a blank', `GET /v1/pets x HTTP/1.1\r\n${host}\r\n`, 400, 'invalid_parameter'],
  ['a target that is not a path', `GET v1/pets HTTP/1.1\r\n${host}\r\n`, 400, 'invalid_parameter'],
  ['a header without a colon', `${get}nonsense\r\n\r\n`, 400, 'invalid_parameter'],
  ['a blank before the colon of a header', `${get}X : y\r\n\r\n`, 400, 'invalid_parameter'],
  ['a header with a NUL', `${get}X: a\x00b\r\n\r\n`, 400, 'invalid_parameter'],
  ['a header that continues on the next line', `${get}X: a\r\n b\r\n\r\n`, 400, 'invalid_parameter'],
  ['lines that end only in LF', `${get}\r\n`.replaceAll('\r', ''), 400, 'invalid_parameter'],
  ['a header of 20,000 bytes', `${get}X: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['4,000 headers with 24,000 bytes', `${get}${'X: y\r\n'.repeat(4_000)}\r\n`, 431, 'headers_too_large'],
  ['101 headers', `${get}${'X:\r\n'.repeat(99)}\r\n`, 431, 'headers_too_large'],
  ['a head of 1 MB', `${get}X: ${'a'.repeat(1_000_000)}\r\n\r\n`, 431, 'headers_too_large'],
  ['a target of 20,000 bytes', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 431, 'headers_too_large'],
];
for (const [what, text, status, code] of unreadable)
  test(`a request with ${what} gets ${status} ${code} as the last answer of its connection`, async (t) => {
    await expectLast(t, text, status, code, '60');
    assert.equal(await service.countPets(), 0);
  });

test('an unreadable request counts once for the address and gets 429 over the limit', async (t) => {
  for (let left = 59; left >= 0; left -= 1) {
    const { headers } = await exchangeOne(t, service.baseUrl, garbage);
    assert.equal(headers.get('x-ratelimit-remaining'), String(left));
  }
  const refused = await exchangeOne(t, service.baseUrl, garbage);
  await expectError(refused, 429, 'rate_limit_exceeded', { 'retry-after': '60' });
});

test('garbage in many pieces is answered and counted once', async (t) => {
  const connection = await openRaw(t, service.baseUrl, garbage);
  assert.equal((await connection.read()).status, 400);
  for (let piece = 0; piece < 20; piece += 1) connection.send('more garbage\r\n\r\n');
  assert.deepEqual(await connection.readAll(), []);
  assert.equal(await service.readLeft(null), 58);
});

test('garbage gets one answer after those of the pipelined requests before it', async (t) => {
  const before = await service.readLeft(key);
  const text = `${get}\r\n${add}${get.replace('pets', 'pets/none')}\r\n${garbage}`;
  const responses = await exchangeRaw(t, service.baseUrl, text, 'and more\r\n\r\n');
  expectStatuses(responses, 200, 201, 404, 400);
  const limits = responses.map(({ headers }) => headers.get('x-ratelimit-remaining'));
  assert.deepEqual(limits, [`${before - 1}`, `${before - 2}`, `${before - 3}`, '59']);
  assert.equal(await service.readLeft(null), 58);
  service.openFile().exec('delete from pets');
});

for (const [what, more, behind, statuses, left] of [
  ['the answer to garbage comes after the slow answer', '', garbage, [201, 400], 58],
  ['the answer to a CONNECT comes after the slow answer', '', connectLine, [201, 405], 58],
  ['only its answer comes if it is the last', 'Connection: close\r\n', `${get}\r\n`, [201], 59],
] as const)
  test(`behind a request that is still running, ${what}`, async (t) => {
    const file = service.openFile();
    file.exec('begin immediate');
    const text = add.replace('Content-Length', `${more}Content-Length`) + behind;
    const connection = await openRaw(t, service.baseUrl, text);
    await service.untilCounted(key, 1);
    connection.send('still garbage\r\n\r\n');
    file.exec('rollback');
    expectStatuses(await connection.readAll(), ...statuses);
    assert.equal(await service.readLeft(null), left);
    file.exec('delete from pets');
  });

for (const length of ['', 'Content-Length: 0\r\n', 'Content-Length: 000\r\n'])
  test(`the refusal of a POST with the header "${length.trim()}" comes before the answer to unreadable bytes`, async (t) => {
    for (const [behind, status] of [[garbage, 400] as const, [connectLine, 405] as const]) {
      const answers = await exchangeRaw(t, service.baseUrl, `${post}${length}\r\n${behind}`);
      expectStatuses(answers, 400, status);
      await expectError(answers[0] ?? assert.fail(), 400, 'invalid_body');
      const limits = answers.map(({ headers }) => headers.get('x-ratelimit-limit'));
      assert.deepEqual(limits, ['1000000', '60']);
      const allow = status === 405 ? 'DELETE, GET, HEAD, PATCH, POST, PUT' : null;
      assert.equal(answers[1]?.headers.get('allow'), allow);
    }
  });

/** Returns the lines of the metrics that count answers to unreadable requests. */
async function listMalformed(): Promise<unknown> {
  const metrics = await (await fetch(`${service.app.opsUrl}/metrics`)).text();
  return metrics.match(/^.*requests_total\{route="malformed",.*$/gm);
}

for (const [what, version, more] of [
  ['with Connection: close', 'HTTP/1.1', 'Connection: close\r\n'],
  ['with HTTP/1.0', 'HTTP/1.0', ''],
  ['with only an Upgrade header', 'HTTP/1.1', 'Upgrade: websocket\r\n'],
] as const)
  test(`bytes after a request ${what} are neither answered nor counted`, async (t) => {
    const [before, malformedBefore] = [await service.readLeft(key), await listMalformed()];
    const last = `GET /v1/pets ${version}\r\n${host}${authorization}${more}\r\n`;
    for (const behind of [`${get}\r\n`, garbage, connectLine]) {
      const { status, headers } = await exchangeOne(t, service.baseUrl, last + behind);
      assert.deepEqual([status, headers.get('connection')], [200, 'close']);
    }
    assert.equal(await service.readLeft(key), before - 4);
    assert.equal(await service.readLeft(null), 59);
    assert.deepEqual(await listMalformed(), malformedBefore);
  });

test('an HTTP/1.1 request without Host or with two gets 400 after the check of its key', async (t) => {
  const close = 'Connection: close\r\n\r\n';
  const anonymous = await exchangeOne(t, service.baseUrl, `GET /v1/pets HTTP/1.1\r\n${close}`);
  await expectError(anonymous, 401, 'api_key_missing');
  const second = ['localhost', 'evil.example'].map((name) => `${get}Host: ${name}\r\n\r\n`);
  const none = `GET /v1/pets HTTP/1.1\r\n${authorization}${close}`;
  for (const text of [none, ...second.map((twice) => twice + twice)])
    assert.match(await expectLast(t, text, 400, 'invalid_parameter', '1000000'), /^Host/);
});

for (const [what, text] of [
  ['whose Authorization follows 97 other headers', `GET /v1/pets HTTP/1.1\r\n${'x:\r\n'.repeat(97)}${host}`],
  ['with HTTP/1.0 and without a Host', 'GET /v1/pets HTTP/1.0\r\n'],
  ['with an expectation other than 100-continue', `GET /v1/pets HTTP/1.1\r\n${host}Expect: a miracle\r\n`],
])
  test(`a request ${what} is served`, async (t) => {
    const last = `${text}${authorization}Connection: close\r\n\r\n`;
    expectStatuses(await exchangeRaw(t, service.baseUrl, last), 200);
  });

for (const [what, more] of [
  ['', ''],
  [' with an expectation', 'Expect: a miracle\r\n'],
])
  test(`the answer to an Upgrade${what} is the last of its connection`, async (t) => {
    const upgrade = `${get}Connection: Upgrade\r\nUpgrade: websocket\r\n${more}\r\n`;
    const answers = await exchangeRaw(t, service.baseUrl, `${get}\r\n${upgrade}${get}\r\n`);
    const ends = answers.map(({ status, headers }) => `${status} ${headers.get('connection')}`);
    assert.deepEqual(ends, ['200 keep-alive', '200 close']);
  });

test('Expect: 100-continue gets 100 and then the answer', async (t) => {
  const head = `${post}Expect: 100-continue\r\nContent-Length: ${rex.length}\r\n\r\n`;
  const connection = await openRaw(t, service.baseUrl, head);
  assert.equal((await connection.read()).status, 100);
  connection.send(rex);
  assert.equal((await connection.read()).status, 201);
  service.openFile().exec('delete from pets');
});

test('Expect: 100-continue gets only the refusal of its request before the connection is closed', async (t) => {
  const limited = await service.createKey('free');
  for (let count = 0; count < 60; count += 1) await service.request(limited, '/nothing');
  for (const [more, status] of [
    ['', 401],
    [`Authorization: Bearer ${limited}\r\n`, 429],
    [`${authorization}Content-Type: text/plain\r\n`, 415],
  ] as const) {
    const head = `POST /v1/pets HTTP/1.1\r\n${host}${more}Expect: 100-continue\r\nContent-Length: 29\r\n\r\n`;
    const answer = await exchangeOne(t, service.baseUrl, head);
    assert.deepEqual([answer.status, answer.headers.get('connection')], [status, 'close']);
  }
});

test('a client that half-closes its connection in the middle of a head gets 400', async (t) => {
  const connection = await openRaw(t, service.baseUrl, `${get}X: y`);
  connection.end();
  await expectError(await connection.read(), 400, 'invalid_parameter');
  assert.deepEqual(await connection.readAll(), []);
});

test('bytes after garbage are read up to a bound before the connection is closed', async (t) => {
  const accepted: Socket[] = [];
  const collect = (message: unknown) => accepted.push((message as { socket: Socket }).socket);
  subscribe('net.server.socket', collect);
  t.after(() => unsubscribe('net.server.socket', collect));
  const connection = await openRaw(t, service.baseUrl, garbage);
  await expectError(await connection.read(), 400, 'invalid_parameter');
  const [socket = assert.fail()] = accepted;
  const closed = once(socket, 'close');
  connection.send('x'.repeat(8 * lingerBytesMax));
  await closed;
  assert.ok(socket.bytesRead > lingerBytesMax);
  assert.ok(socket.bytesRead < 4 * lingerBytesMax);
});
