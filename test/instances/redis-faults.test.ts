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
    const ask = () => readJson<Readiness>(fetch(`${service.opsUrl}/readyz`));
    const isInMode = ({ notes }: Readiness) => (notes === undefined) === (mode === 'shared');
    const { status, notes = [] } = await until(ask, isInMode, backMsMax);
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

/**
 * Requires what each instance lets through alone after 150 of 300 requests. The last count that an instance has seen is
 * 150 minus the requests that the others were still handling.
 */
function expectAlone(passed: readonly number[]): void {
  for (const count of passed) assert.ok(count >= 150 && count <= 250, `${count} passed at one`);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

test('three instances over a Redis that fails', { skip }, async (t) => {
  const redis = await startRedisServer(t, '--appendonly', 'yes');
  const instances = await startInstances(t, { postgres, redisUrl: redis.url });
  const createKey = async () => (await instances.createKey('--plan', 'pro')).key;
  await untilCounted(instances, 'shared');

  await t.test('keep the limit exact while it is slow but answers in time', async () => {
    const key = await createKey();
    let passed = 0;
    for (let turn = 0; turn < 3; turn += 1) {
      await redis.command('client', 'pause', slowMs);
      passed += sum(await send(instances, key, 150));
    }
    assert.equal(passed, 300);
    await untilCounted(instances, 'shared');
  });

  await t.test('continue the counts alone only while it is away', async () => {
    const [alone, again] = [await createKey(), await createKey()];
    assert.deepEqual(await send(instances, alone, 150), [50, 50, 50]);
    await redis.kill();
    // Sends the requests in parts. On a busy machine, the last of 1,200 would wait too long for a database connection.
    const parts: number[][] = [];
    while (parts.length < 4) parts.push(await send(instances, alone, 300, withStore));
    expectAlone(instances.services.map((_, index) => sum(parts.map((part) => part[index] ?? 0))));
    await untilCounted(instances, 'alone');
    await redis.start();
    await untilCounted(instances, 'shared');
    assert.equal(sum(await send(instances, again, 900)), 300);
  });

  await t.test('share the counts from zero if it restarts empty', async () => {
    const key = await createKey();
    assert.equal(sum(await send(instances, key, 450)), 300);
    await redis.kill();
    await untilCounted(instances, 'alone');
    await redis.start('--appendonly', 'no');
    await untilCounted(instances, 'shared');
    assert.equal(sum(await send(instances, key, 450)), 300);
  });
});
