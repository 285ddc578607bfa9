import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres, sqliteEngine } from '../../support/engines.ts';
import { expectStatuses, formatHeads, formatRequest, openRaw, rexText } from '../../support/raw-http.ts';
import { lockPets, startOn } from '../engine-service.ts';

const postgres = await findPostgres();

/** Number of bytes that Node reads from a socket at once. */
const bufferBytes = 65_536;

test('a client that half-closes its connection after its request gets its answer', async (t) => {
  const { service, key, headers } = await startOn(t, sqliteEngine);
  await (await service.request(key, '/pets/1')).text();
  for (const [path, outcome] of [
    // From the cache, from the store, and to an unknown animal. An answer that waits for PostgreSQL would come too late,
    // because a half-closed connection closes at the end of the turn.
    ['/v1/pets/1', 200],
    ['/v1/pets/2', 200],
    ['/v1/pets/99', 404],
  ] as const) {
    const request = formatRequest(`GET ${path}`, headers);
    // The second text fills Node's read buffer, after which Node reads again. Empty lines before a request are ignored.
    for (const text of [request, request.padStart(bufferBytes, '\r\n')]) {
      const connection = await openRaw(t, service.baseUrl, text);
      connection.end();
      expectStatuses(await connection.readAll(), outcome);
    }
  }
});

test('a client that resets its connection while its animal is added affects no other client', async (t) => {
  const { service, key } = await startOn(t, sqliteEngine);
  const file = service.openFile();
  file.exec('begin immediate');
  const connection = await openRaw(t, service.baseUrl, formatHeads(key).add);
  await service.untilCounted(key, 1);
  connection.reset();
  file.exec('rollback');
  assert.equal((await service.post(key, rexText)).status, 201);
  assert.equal(await service.countPets(), 7);
  assert.doesNotMatch(service.readLog(), /"status":5/);
});

test('a client that resets its connection while PostgreSQL reads its animal affects no other client', {
  skip: postgres.skip,
}, async (t) => {
  const { service, key, url, headers } = await startOn(t, postgres);
  const locking = await lockPets(t, url);
  const connection = await openRaw(t, service.baseUrl, formatRequest('GET /v1/pets/1', headers));
  await service.untilCounted(key, 1);
  connection.reset();
  await locking.query('rollback');
  assert.equal((await service.request(key, '/pets/1')).status, 200);
  assert.doesNotMatch(service.readLog(), /"status":5/);
});
