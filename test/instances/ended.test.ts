import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { amplePlan, elementAt, startInstances } from '../support/instances.ts';
import { addUnderLoad } from '../support/load.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer());

/**
 * Error codes of a request that no instance has accepted:
 * - The connection was refused.
 * - The connection was closed as idle while a slow client sent its next request.
 * - The system had opened the connection, but the instance stopped listening before it accepted the connection.
 */
const notTaken = ['ECONNREFUSED', 'UND_ERR_SOCKET', 'ECONNRESET'];

test('an instance that ends by SIGTERM under load aborts no request and answers every accepted request', {
  skip,
}, async (t) => {
  const { url: redisUrl } = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl });
  const { key } = await instances.createKey(...amplePlan);
  const victim = elementAt(instances.services, 0);
  const load = await addUnderLoad(instances, key, () => victim.child.kill('SIGTERM'));
  assert.equal((await victim.end()).code, 0);
  assert.deepEqual(
    [...load.failures].filter((code) => !notTaken.includes(code)),
    [],
  );
  assert.deepEqual([...load.takenUnanswered], []);
  const rows = (await instances.store.execute('select id, name from pets')) as { id: string; name: string }[];
  const stored = new Map(rows.map(({ id, name }) => [name, Number(id)]));
  assert.deepEqual(stored, load.answered);
});
