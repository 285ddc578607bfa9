import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresAt } from '../support/engines.ts';
import { amplePlan, elementAt, startInstances, untilAnswered } from '../support/instances.ts';
import { addedAfter, addedBefore, addUnderLoad } from '../support/load.ts';
import { startPostgresCluster, whyNoPostgresCluster } from '../support/postgres-cluster.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';
import { startRelay } from '../support/relay.ts';

const skip = whyNoPostgresCluster() || (await whyNoRedisServer());
const backMsMax = 10_000;
const revokeMsMax = 5_000;

test('if the primary dies and its standby takes over', { skip }, async (t) => {
  const { primary, standby } = await startPostgresCluster(t);
  const relay = await startRelay(t, primary.url);

  await t.test('no answered change is lost, and no instance needs a restart', async (inner) => {
    const { url: redisUrl } = await startRedisServer(inner);
    const instances = await startInstances(inner, { postgres: postgresAt(relay.url), redisUrl });
    const { id, key } = await instances.createKey(...amplePlan);

    let wellAfterMs = 0;
    const failOver = async () => {
      const startedAtMs = performance.now();
      await primary.kill();
      await standby.promote();
      relay.redirect(standby.url);
      for (const service of instances.services)
        await untilAnswered(service, key, ({ status }) => status === 200, backMsMax);
      wellAfterMs = performance.now() - startedAtMs;
    };
    const { answered, failures } = await addUnderLoad(instances, key, failOver, [409, 503]);
    inner.diagnostic(`well after ${Math.round(wellAfterMs)} ms; refused: ${[...failures].join(', ')}`);

    assert.ok(failures.has('503'), 'the primary was missed by nobody');
    const rows = await instances.store.execute('select id, name from pets');
    const stored = new Map(
      (rows as { id: string; name: string }[]).map(({ id: petId, name }) => [name, Number(petId)]),
    );
    assert.equal(answered.size, addedBefore + addedAfter);
    assert.deepEqual(stored, answered);
    assert.equal(rows.length, answered.size);

    await instances.command('keys', 'revoke', id);
    const last = elementAt(instances.services, 2);
    await untilAnswered(last, key, ({ status }) => status === 401, revokeMsMax);
  });
});
