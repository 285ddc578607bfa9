import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres } from '../support/engines.ts';
import { ask, type Instances, readJson, readMetric, startInstances } from '../support/instances.ts';
import { until } from '../support/processes.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';

const postgres = await findPostgres();
const skip = postgres.skip || (await whyNoRedisServer());

const backMsMax = 5_000;
/** A delay in ms that is shorter than the time for which an instance waits for an answer. */
const slowMs = '100';

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

/** A path that needs no database, and a path that needs the database. */
const withoutStore = { path: '/nothing', statusPassed: 404 };
const withStore = { path: '/pets', statusPassed: 200 };

/**
 * Sends simultaneous requests to all instances in turn. Returns the number that passed at each instance. Throws if an
 * answer is neither a success nor 429.
 */
async function send(
  instances: Instances,
  key: string,
  count: number,
  { path, statusPassed } = withoutStore,
): Promise<number[]> {
  const passed = new Map(instances.services.map((service) => [service, 0]));
  const requests = Array.from({ length: count }, async () => {
    const service = instances.next();
    const response = await ask(service, key, path);
    const { status } = response;
    const body = await response.text();
    assert.ok(status === statusPassed || status === 429, `${status} while Redis is away: ${body}`);
    if (status === statusPassed) passed.set(service, (passed.get(service) ?? 0) + 1);
  });
  await Promise.all(requests);
  return [...passed.values()];
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

test('without Redis each instance continues the counts alone, and shares counts again when Redis is back', {
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
  // Sends the requests in parts. On a busy machine, the last of 1,200 would wait too long for a database connection.
  const parts: number[][] = [];
  while (parts.length < 4) parts.push(await send(instances, alone, 300, withStore));
  const passed = instances.services.map((_, index) => sum(parts.map((part) => part[index] ?? 0)));
  // The last count that an instance has seen is 150 minus the requests that the others were still handling.
  for (const count of passed) assert.ok(count >= 150 && count <= 250, `${count} passed at one`);
  await untilCounted(instances, 'alone');

  await redis.start();
  await untilCounted(instances, 'shared');
  const [first = 0, second = 0, third = 0] = await send(instances, again, 900);
  assert.equal(first + second + third, 300);
});

test('if Redis restarts empty, an account gets its limit again, and the instances share counts immediately', {
  skip,
}, async (t) => {
  const redis = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl: redis.url });
  const { key } = await instances.createKey('--plan', 'pro');
  assert.equal(sum(await send(instances, key, 450)), 300);
  await redis.kill();
  await untilCounted(instances, 'alone');
  await redis.start();
  await untilCounted(instances, 'shared');
  assert.equal(sum(await send(instances, key, 450)), 300);
});

test('if Redis hangs, the instances count alone in time, and share counts again when it continues', {
  skip,
}, async (t) => {
  const redis = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl: redis.url });
  const { key } = await instances.createKey('--plan', 'pro');
  assert.equal(sum(await send(instances, key, 150)), 150);
  redis.pause();
  for (const count of await send(instances, key, 1_200)) assert.ok(count >= 150 && count <= 250, `${count}`);
  await untilCounted(instances, 'alone');
  redis.resume();
  await untilCounted(instances, 'shared');
});

test('if Redis is slow but answers in time, the instances wait for it, and the limit stays exact', {
  skip,
}, async (t) => {
  const redis = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl: redis.url });
  const { key } = await instances.createKey('--plan', 'pro');
  await untilCounted(instances, 'shared');
  let passed = 0;
  for (let turn = 0; turn < 3; turn += 1) {
    await redis.command('client', 'pause', slowMs);
    passed += sum(await send(instances, key, 150));
  }
  assert.equal(passed, 300);
  await untilCounted(instances, 'shared');
});
