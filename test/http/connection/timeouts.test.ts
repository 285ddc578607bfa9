import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { expectError } from '../../support/expect-error.ts';
import { exchangeOne, exchangeRaw, expectStatuses, formatHeads, openRaw } from '../../support/raw-http.ts';
import { startBuiltServer } from '../built-server.ts';

const timeouts = { headersMs: 200, requestMs: 400, keepAliveMs: 100, untakenMs: 600 };
const { baseUrl: url, key, store } = await startBuiltServer({ after }, { timeouts });
const { get, post } = formatHeads(key);

test('a head or a body that does not arrive in time gets a 408 that ends the connection', async (t) => {
  for (const [text, limit] of [
    [get, '60'],
    [`${post}Content-Length: 29\r\n\r\n{"name":`, '1000'],
  ] as const) {
    const response = await exchangeOne(t, url, text);
    const headers = { 'x-ratelimit-limit': limit, connection: 'close' };
    await expectError(response, 408, 'request_timeout', headers);
  }
});

test('a head that is sent byte by byte gets 408, too', async (t) => {
  const connection = await openRaw(t, url);
  const dripping = setInterval(() => connection.send('X'), 10);
  t.after(() => clearInterval(dripping));
  connection.send('GET /v1/pets HTTP/1.1\r\nX-Slow: ');
  await expectError(await connection.read(), 408, 'request_timeout');
});

const unfinished = 'POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n';
const late = `${get}\r\nGET /v1/pets HTTP/1.1\r\n`;
for (const [what, text, statuses] of [
  ['a late second request gets 408 after the first answer', late, [200, 408]],
  ['an idle connection is closed without an answer', `${get}\r\n`, [200]],
  ['a connection with a refused body without end is closed without a second answer', unfinished, [401]],
] as const)
  test(what, async (t) => expectStatuses(await exchangeRaw(t, url, text), ...statuses));

test('a request that times out adds no animal', async () => {
  const { items: pets } = await store.catalogue.list({ limit: 1, status: null, newestId: null });
  assert.deepEqual(pets, []);
});
