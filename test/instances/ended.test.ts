import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { amplePlan, elementAt, startInstances } from '../support/instances.ts';
import { addedAfter, addedBefore, addUnderLoad } from '../support/load.ts';
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

async function startLoad(t: Parameters<typeof startInstances>[0], signal: NodeJS.Signals) {
  const { url: redisUrl } = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl });
  const { key } = await instances.createKey(...amplePlan);
  const victim = elementAt(instances.services, 0);
  const outcome = await addUnderLoad(instances, key, () => victim.child.kill(signal));
  const rows = await instances.store.execute('select id, name from pets');
  const stored = new Map((rows as { id: string; name: string }[]).map(({ id, name }) => [name, Number(id)]));
  return { ...outcome, rows, stored, ended: await victim.end() };
}

describe('an instance that ends under load', { skip }, () => {
  test('by SIGKILL loses no answered add, and a retry at another instance adds only one animal', async (t) => {
    const { answered, stored, rows, ended } = await startLoad(t, 'SIGKILL');
    assert.equal(ended.signal, 'SIGKILL');
    assert.equal(answered.size, addedBefore + addedAfter);
    assert.deepEqual(stored, answered);
    assert.equal(rows.length, answered.size);
  });

  test('by SIGTERM aborts no request and answers every accepted request', async (t) => {
    const { answered, stored, failures, takenUnanswered, ended } = await startLoad(t, 'SIGTERM');
    assert.equal(ended.code, 0);
    assert.deepEqual(
      [...failures].filter((code) => !notTaken.includes(code)),
      [],
    );
    assert.deepEqual([...takenUnanswered], []);
    assert.deepEqual(stored, answered);
  });
});
