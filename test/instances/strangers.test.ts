import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { generateKey } from '../../src/accounts/api-key.ts';
import { findPostgres } from '../support/engines.ts';
import { amplePlan, type Instances, type MadeKey, startInstances } from '../support/instances.ts';
import { openRaw } from '../support/raw-http.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const noRedis = await whyNoRedisServer();

const connections = 300;
const requestsEach = 5;
const strangersAddress = '192.0.2.1';
const othersAddress = '192.0.2.2';

/** Sends requests one after the other on one connection. Returns their statuses. */
async function ask(
  t: TestContext,
  { services }: Instances,
  address: string,
  keys: Iterable<string>,
): Promise<number[]> {
  const connection = await openRaw(t, services[0]?.url ?? '');
  const statuses: number[] = [];
  for (const key of keys) {
    connection.send(
      `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\nAuthorization: Bearer ${key}\r\n\r\n`,
    );
    statuses.push((await connection.read()).status);
  }
  connection.end();
  return statuses;
}

/** Random keys with a valid checksum, so that each needs a lookup in the store. */
function* unknownKeys(): Generator<string> {
  for (let sent = 0; sent < requestsEach; sent += 1) yield generateKey('live');
}

for (const [counters, skip] of [
  ['in the process', postgres.skip],
  ['in Redis', postgres.skip || noRedis],
] as const)
  describe(`clients with random keys over PostgreSQL, counted ${counters}`, { skip }, () => {
    test('do not block clients with valid keys, even with the same address', async (t) => {
      const redisUrl = counters === 'in Redis' ? (await startRedisServer(t)).url : '';
      const settings = { TRUST_PROXY: '1' };
      const instances = await startInstances(t, { postgres, redisUrl, count: 1, settings });
      const made: MadeKey[] = [];
      for (let count = 0; count < 3; count += 1) made.push(await instances.createKey(...amplePlan));
      const [known = '', other = '', fresh = ''] = made.map(({ key }) => key);
      assert.deepEqual(await ask(t, instances, strangersAddress, [known]), [200]);

      let isOver = false;
      function* untilOver(key: string): Generator<string> {
        do yield key;
        while (!isOver);
      }
      const strangers = Promise.all(
        Array.from({ length: connections }, () => ask(t, instances, strangersAddress, unknownKeys())),
      ).finally(() => {
        isOver = true;
      });
      const good = await Promise.all([
        ask(t, instances, strangersAddress, untilOver(known)),
        ask(t, instances, othersAddress, untilOver(other)),
      ]);
      assert.deepEqual(new Set(good.flat()), new Set([200]));

      const statuses = new Set((await strangers).flat());
      assert.deepEqual(statuses.difference(new Set([401, 429])), new Set());
      assert.deepEqual(await ask(t, instances, strangersAddress, [fresh]), [200]);
    });
  });
