import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectError } from '../../support/expect-error.ts';
import { expectStatuses, openRaw } from '../../support/raw-http.ts';
import { startBuiltServer } from '../built-server.ts';

const timeouts = { headersMs: 200, requestMs: 400, keepAliveMs: 100, untakenMs: 600 };
const { baseUrl: url, key, store } = await startBuiltServer({ after }, { timeouts });
const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`;
const post = `POST /v1/pets HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 29\r\n\r\n`;

test('a head that does not arrive in time gets 408, counts for the address, and ends the connection', async (t) => {
  const connection = await openRaw(t, url);
  connection.send(`GET /v1/pets HTTP/1.1\r\n${head}`);
  const [response, ...others] = await connection.readAll();
  await expectError(response ?? assert.fail(), 408, 'request_timeout');
  assert.equal(response?.headers.get('x-ratelimit-limit'), '60');
  assert.equal(response?.headers.get('connection'), 'close');
  assert.deepEqual(others, []);
});

test('a body that does not arrive in time gets 408, counts for the account, and ends the connection', async (t) => {
  const connection = await openRaw(t, url);
  connection.send(`${post}{"name":`);
  const [response, ...others] = await connection.readAll();
  await expectError(response ?? assert.fail(), 408, 'request_timeout');
  assert.equal(response?.headers.get('x-ratelimit-limit'), '1000');
  assert.equal(response?.headers.get('connection'), 'close');
  assert.deepEqual(others, []);
});

test('a head that is sent byte by byte gets 408, too', async (t) => {
  const connection = await openRaw(t, url);
  const dripping = setInterval(() => connection.send('X'), 10);
  t.after(() => clearInterval(dripping));
  connection.send('GET /v1/pets HTTP/1.1\r\nX-Slow: ');
  await expectError(await connection.read(), 408, 'request_timeout');
});

test('a second request that does not arrive in time gets 408 after the answer to the first request', async (t) => {
  const connection = await openRaw(t, url);
  connection.send(`GET /v1/pets HTTP/1.1\r\n${head}\r\nGET /v1/pets HTTP/1.1\r\n`);
  const responses = await connection.readAll();
  expectStatuses(responses, 200, 408);
});

test('an idle connection is closed without an answer', async (t) => {
  const connection = await openRaw(t, url);
  connection.send(`GET /v1/pets HTTP/1.1\r\n${head}\r\n`);
  const responses = await connection.readAll();
  expectStatuses(responses, 200);
});

test('a connection with a refused body that never ends is closed without a second answer', async (t) => {
  const connection = await openRaw(t, url);
  connection.send('POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n');
  const responses = await connection.readAll();
  expectStatuses(responses, 401);
});

test('a request that times out adds no animal', async () => {
  const { items: pets } = await store.catalogue.list({ limit: 1, status: null, newestId: null });
  assert.deepEqual(pets, []);
});
