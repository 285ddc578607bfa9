import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres, sqliteEngine } from '../../support/engines.ts';
import { expectError } from '../../support/expect-error.ts';
import { exchangeRaw, expectStatuses, formatRequest, openRaw } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';
import { lockPets, startOn } from '../engine-service.ts';

const postgres = await findPostgres();

/** Number of bytes that Node reads from a socket at once. */
const bufferBytes = 65_536;

for (const engine of [sqliteEngine, postgres])
  for (const [what, path, outcome] of [
    ['from the cache', '/v1/pets/1', 200],
    ['from the store', '/v1/pets/2', 200],
    ['to an unknown animal', '/v1/pets/99', 404],
  ] as const) {
    const { name, skip } = engine;
    /** Starts a service whose response cache has only animal 1. */
    const start = async (t: Parameters<typeof startOn>[0]) => {
      const { service, key, headers } = await startOn(t, engine);
      await (await service.request(key, '/pets/1')).text();
      return { service, request: formatRequest(`GET ${path}`, headers) };
    };

    test(`${name}: an answer ${what} comes before the error for unreadable bytes that follow the request`, {
      skip,
    }, async (t) => {
      const { service, request } = await start(t);
      for (const [behind, status] of [
        ['garbage\r\n\r\n', 400],
        ['CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n', 405],
      ] as const) {
        const responses = await exchangeRaw(t, service.baseUrl, request + behind);
        expectStatuses(responses, outcome, status);
      }
    });

    // Node closes a half-closed connection immediately, so an answer that waits for PostgreSQL comes too late.
    if (engine === sqliteEngine)
      test(`${name}: a client that half-closes its connection after its request gets its answer ${what}`, async (t) => {
        const { service, request } = await start(t);
        // The second text fills Node's read buffer, after which Node reads again. Empty lines before a request are ignored.
        for (const text of [request, request.padStart(bufferBytes, '\r\n')]) {
          const connection = await openRaw(t, service.baseUrl);
          connection.send(text);
          connection.end();
          expectStatuses(await connection.readAll(), outcome);
        }
      });

    test(`${name}: a client that resets its connection before an answer ${what} affects no other client`, {
      skip,
    }, async (t) => {
      const { service, request } = await start(t);
      for (let number = 0; number < 20; number += 1) {
        const connection = await openRaw(t, service.baseUrl);
        connection.send(request);
        connection.reset();
      }
      const [response] = await exchangeRaw(t, service.baseUrl, `${request}garbage\r\n\r\n`);
      assert.equal(response?.status, outcome);
      assert.doesNotMatch(service.readLog(), /"level":(?:50|60)/);
    });
  }

const rex = '{"name":"Rex","categoryId":1}';

test('a client that resets its connection while its animal is added affects no other client', async (t) => {
  const { service, key, headers } = await startOn(t, sqliteEngine);
  const file = service.openFile();
  file.exec('begin immediate');
  const connection = await openRaw(t, service.baseUrl);
  const ofBody = { 'content-type': 'application/json', 'content-length': String(rex.length) };
  connection.send(formatRequest('POST /v1/pets', { ...headers, ...ofBody }, rex));
  await service.untilCounted(key, 1);
  connection.reset();
  file.exec('rollback');
  assert.equal((await service.post(key, rex)).status, 201);
  assert.equal(await service.countPets(), 7);
  assert.doesNotMatch(service.readLog(), /"status":5/);
});

test('a client that resets its connection while PostgreSQL reads its animal affects no other client', {
  skip: postgres.skip,
}, async (t) => {
  const { service, key, url, headers } = await startOn(t, postgres);
  const locking = await lockPets(url);
  try {
    const connection = await openRaw(t, service.baseUrl);
    connection.send(formatRequest('GET /v1/pets/1', headers));
    await service.untilCounted(key, 1);
    connection.reset();
    await locking.query('rollback');
    assert.equal((await service.request(key, '/pets/1')).status, 200);
    assert.doesNotMatch(service.readLog(), /"status":5/);
  } finally {
    await locking.end();
  }
});

for (const length of ['', 'Content-Length: 0\r\n', 'Content-Length: 000\r\n'])
  test(`the refusal of a POST with the header "${length.trim()}" comes before the answer to the next request`, async (t) => {
    const service = await startService(t);
    const head = `Host: a\r\nAuthorization: Bearer ${await service.createKey()}\r\n`;
    const post = `POST /v1/pets HTTP/1.1\r\n${head}Content-Type: application/json\r\n${length}\r\n`;
    for (const [behind, status] of [
      ['garbage\r\n\r\n', 400],
      ['CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ] as const) {
      const [refusal, other, ...more] = await exchangeRaw(t, service.baseUrl, post + behind);
      await expectError(refusal ?? assert.fail('no response'), 400, 'invalid_body');
      assert.equal(refusal?.headers.get('x-ratelimit-limit'), '1000000');
      assert.equal(other?.status, status);
      assert.equal(other?.headers.get('x-ratelimit-limit'), '60');
      assert.deepEqual(more, []);
    }
  });
