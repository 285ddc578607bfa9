import assert from 'node:assert/strict';
import { after, afterEach, beforeEach, test } from 'node:test';
import { dayMs } from '../../../src/clock.ts';
import type { ErrorCode } from '../../../src/errors.ts';
import { expectError } from '../../support/expect-error.ts';
import { exchangeOne, formatHeads, openRaw, rexText } from '../../support/raw-http.ts';
import { startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after });
const { host, post, add } = formatHeads(key);
const long = 'a'.repeat(20_000);
const chunked = `${post}Transfer-Encoding: chunked\r\n\r\n`;

// Each test starts on a new day, on which nothing is counted yet.
beforeEach(() => service.clock.advance(dayMs));
afterEach(async () => assert.doesNotMatch(service.readLog(), /"status":5/));

const brokenBodies: readonly (readonly [what: string, parts: string[], status: number, code: ErrorCode])[] = [
  ['a chunk with an invalid size', [chunked, 'zz\r\n'], 400, 'invalid_body'],
  ['a chunk that is longer than its size', [chunked, '5\r\n{"name":"Rex"', '\r\n'], 400, 'invalid_body'],
  ['chunks that end only in LF', [chunked, '2\n{}\n0\n\n'], 400, 'invalid_body'],
  ['a long chunk extension', [chunked, `2;${long}\r\n{}\r\n`], 413, 'payload_too_large'],
  ['long trailers', [chunked, `2\r\n{}\r\n0\r\nX: ${long}\r\n`], 431, 'headers_too_large'],
  ['a transfer coding without chunks', [`${post}Transfer-Encoding: gzip\r\n\r\n`, 'xx'], 400, 'invalid_body'],
];
for (const [what, parts, status, code] of brokenBodies)
  test(`a body with ${what} gets ${status} ${code} and counts for the account`, async (t) => {
    for (const sent of [parts, [parts.join('')]]) {
      const before = await service.readLeft(key);
      const response = await exchangeOne(t, service.baseUrl, ...sent);
      const limits = { 'x-ratelimit-limit': '1000000', 'x-ratelimit-remaining': `${before - 1}` };
      await expectError(response, status, code, { ...limits, connection: 'close' });
    }
    assert.equal(await service.readLeft(null), 59);
    assert.equal(await service.countPets(), 0);
  });

test('a request whose body breaks off during the lookup of its key counts for the account', async (t) => {
  const fresh = await service.createKey();
  const response = await exchangeOne(t, service.baseUrl, `${chunked.replace(key, fresh)}zz\r\n`);
  await expectError(response, 400, 'invalid_body', { 'x-ratelimit-remaining': '999999' });
  assert.equal(await service.readLeft(null), 59);
});

test('a body that breaks off after its request was refused causes no second answer', async (t) => {
  const head = `POST /v1/pets HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n`;
  const connection = await openRaw(t, service.baseUrl, head);
  await expectError(await connection.read(), 401, 'api_key_missing');
  connection.send('zz\r\n');
  assert.deepEqual(await connection.readAll(), []);
  assert.equal(await service.readLeft(null), 58);
});

test('a client that half-closes its connection in the middle of a body gets 400 and adds nothing', async (t) => {
  const connection = await openRaw(t, service.baseUrl, `${post}Content-Length: 100\r\n\r\n${rexText}`);
  connection.end();
  await expectError(await connection.read(), 400, 'invalid_body');
  assert.deepEqual(await connection.readAll(), []);
  assert.equal(await service.countPets(), 0);
});

test('a client that closes its connection before the end of its request causes no 5xx', async (t) => {
  for (const cut of [1, 10, post.length, post.length + 20, add.length - 1]) {
    const connection = await openRaw(t, service.baseUrl, add.slice(0, cut));
    await service.request(key, '/pets');
    connection.reset();
  }
  await service.request(key, '/pets');
  assert.equal(await service.countPets(), 0);
});
