import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { ask, type Instances, readJson, readMetric, startInstances } from '../support/instances.ts';
import { until } from '../support/processes.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer());

const backMsMax = 5_000;

interface Readiness {
  readonly status: string;
  readonly notes?: readonly string[];
}

async function untilCounted({ services }: Instances, mode: 'shared' | 'alone'): Promise<void> {
  for (const service of services) {
    const { status, notes = [] } = await until(
      () => readJson<Readiness>(fetch(`${service.opsUrl}/readyz`)),
      ({ notes }) => (notes === undefined) === (mode === 'shared'),
      backMsMax,
    );
    assert.equal(status, 'ready');
    for (const note of notes) assert.match(note, /^the counters: alone since \d{4}-.+Z: ./);
    assert.equal(await readMetric(service, 'animal_store_counters_shared'), Number(mode === 'shared'));
  }
}

/** Sends requests at once to all in turn; gives how many passed at each. Nothing but 200 and 429 may be answered. */
async function send(instances: Instances, key: string, count: number): Promise<number[]> {
  const passed = new Map(instances.services.map((service) => [service, 0]));
  const requests = Array.from({ length: count }, async () => {
    const service = instances.next();
    const { status } = await ask(service, key);
    assert.ok(status === 200 || status === 429, `${status} while Redis is away`);
    if (status === 200) passed.set(service, (passed.get(service) ?? 0) + 1);
  });
  await Promise.all(requests);
  return [...passed.values()];
}

test('without Redis each instance counts by itself from where it was, and they share again when it is back', {
  skip,
}, async (t) => {
  const redis = await startRedisServer(t, '--appendonly', 'yes');
  const instances = await startInstances(t, { postgres, redisUrl: redis.url });
  const keys = [];
  for (const _ of ['alone', 'again']) keys.push((await instances.createKey('--plan', 'pro')).key);
  const [alone = '', again = ''] = keys;
  await untilCounted(instances, 'shared');
  assert.deepEqual(await send(instances, alone, 150), [50, 50, 50]);

  await redis.kill();
  const passed = await send(instances, alone, 1_200);
  // The last count that an instance has seen is 150 less what was still on its way to the others.
  for (const count of passed) assert.ok(count >= 150 && count <= 250, `${count} passed at one`);
  await untilCounted(instances, 'alone');

  await redis.start();
  await untilCounted(instances, 'shared');
  const [first = 0, second = 0, third = 0] = await send(instances, again, 900);
  assert.equal(first + second + third, 300);
});
