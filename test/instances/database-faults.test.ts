import assert from 'node:assert/strict';
import { fieldOf } from '../accounts/world.ts';
import { findPostgres, type Store } from '../support/engines.ts';
import { expectError } from '../support/expect-error.ts';
import {
  add,
  amplePlan,
  ask,
  elementAt,
  type Instances,
  readJson,
  readMetric,
  startInstances,
  untilAnswered,
} from '../support/instances.ts';
import { connectPostgres } from '../support/postgres-databases.ts';
import { runProgram, type ServiceProcess, until } from '../support/processes.ts';
import { testsUnless } from '../support/programs.ts';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';
import { type Relay, startRelay } from '../support/relay.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip || (await whyNoRedisServer()));

const backMsMax = 5_000;
const mebibyte = 2 ** 20;

type Lifetime = Parameters<typeof startInstances>[0];

/** Starts three instances behind a relay to the database that a test can cut, silence and restore. */
async function startBehindRelay(t: Lifetime) {
  let relay: Relay | undefined;
  const reach = async ({ url }: Store) => {
    relay = await startRelay(t, url);
    return relay.url;
  };
  const { url: redisUrl } = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl, reach });
  const { key } = await instances.createKey(...amplePlan);
  for (const service of instances.services) assert.equal((await add(service, key, 'Rex')).status, 201);
  assert.ok(relay);
  return { relay, instances, key };
}

async function expectUnavailable({ services }: Instances, key: string): Promise<void> {
  const asking = services.flatMap((service) =>
    Array.from({ length: 20 }, async () => {
      const response = await ask(service, key);
      await expectError(response, 503, 'unavailable');
      assert.equal(response.headers.get('retry-after'), '1');
    }),
  );
  await Promise.all(asking);
  for (const { opsUrl } of services) assert.equal((await fetch(`${opsUrl}/readyz`)).status, 503);
}

async function expectWell({ services }: Instances, key: string, name: string): Promise<void> {
  for (const service of services) {
    await untilAnswered(service, key, ({ status }) => status === 200, backMsMax);
    // Writes have connections of their own, which may end a moment later.
    const isAdded = async () => (await add(service, key, name)).status === 201;
    await until(isAdded, Boolean, backMsMax);
    assert.equal((await fetch(`${service.opsUrl}/readyz`)).status, 200);
  }
  const pets = await readJson<{ name: string }[]>(ask(elementAt(services, 0), key, '/pets?limit=3'));
  assert.deepEqual(fieldOf(pets, 'name'), Array(services.length).fill(name));
}

test('three instances over a database that fails', async (t) => {
  const { relay, instances, key } = await startBehindRelay(t);
  for (const [fault, harm] of [
    ['is unreachable', () => relay.cut()],
    ['does not respond', () => relay.silence()],
  ] as const)
    await t.test(`answer 503 with the rate limit headers only while it ${fault}`, async () => {
      await harm();
      await expectUnavailable(instances, key);
      await relay.mend();
      await expectWell(instances, key, fault);
    });

  await t.test('answer their running requests after SIGTERM while it does not respond', async () => {
    relay.silence();
    const service = elementAt(instances.services, 0);
    const running = Array.from({ length: 20 }, async () => (await ask(service, key)).status);
    await untilTaken(service);
    const ended = service.end('SIGTERM');
    assert.deepEqual(await Promise.all(running), Array(20).fill(503));
    assert.equal((await ended).code, 0);
    assert.match(service.readLog(), /"msg":"stopped"/);
  });
});

test('an instance with a slow database refuses a flood of reads in constant memory', async (t) => {
  const instances = await startInstances(t, { postgres, count: 1, preload: collectOnSignal });
  const service = elementAt(instances.services, 0);
  const { key } = await instances.createKey(...amplePlan);
  // Caches the key, because the lookup of a new key waits in a separate queue.
  assert.equal((await ask(service, key)).status, 200);
  const unlock = await lockPets(t, instances.store);
  let collections = 0;
  const heapBytes = async () => {
    collections += 1;
    service.child.kill('SIGUSR2');
    await service.untilLogged(`collected ${collections}`);
    return readMetric(service, 'nodejs_heap_size_used_bytes');
  };
  await floodWithReads(instances, key);
  const before = await heapBytes();
  for (let wave = 0; wave < 2; wave += 1) await floodWithReads(instances, key);
  const grown = (await heapBytes()) - before;
  assert.ok(grown < 8 * mebibyte, `${grown} bytes more`);
  await unlock();
  await untilAnswered(service, key, ({ status }) => status === 200, backMsMax);
});

/** Waits until the service has accepted all earlier requests. It accepts them in order, so answers to later ones prove it. */
async function untilTaken({ url }: ServiceProcess): Promise<void> {
  const { origin } = new URL(url);
  for (let times = 0; times < 5; times += 1) await (await fetch(`${origin}/openapi.json`)).arrayBuffer();
}

/** Collects garbage on SIGUSR2, so that a measurement of the heap counts only live objects. */
const collectOnSignal = `
  import { setFlagsFromString } from 'node:v8';
  import { runInNewContext } from 'node:vm';
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  let collections = 0;
  process.on('SIGUSR2', () => {
    collect();
    collections += 1;
    process.stderr.write('collected ' + collections + '\\n');
  });`;

/**
 * Sends more reads at once than may wait in the pool (the bound is in test/storage/postgres/pool.test.ts). Requires that
 * all are refused.
 */
async function floodWithReads({ services }: Instances, key: string): Promise<void> {
  const service = elementAt(services, 0);
  const reads = Array.from({ length: 1_200 }, async () =>
    expectError(await ask(service, key), 503, 'unavailable'),
  );
  await Promise.all(reads);
}

/** Blocks all reads and writes of animals until the lock is released. */
async function lockPets(t: Lifetime, { url }: Store) {
  const client = await connectPostgres(t, url);
  // Without its horizon, the feed has no version, so no response comes from the cache.
  await client.query('begin; lock table pets, event_horizon in access exclusive mode');
  return () => client.query('rollback');
}

test('a start that fails after Redis was opened ends the process with one line', async (t) => {
  const redis = await startRedisServer(t);
  const store = await postgres.createStore(t);
  await (await store.open()).close();
  const url = new URL(store.url);
  url.searchParams.set('options', '-c default_transaction_read_only=on');
  const { code, stderr, stdout } = await runProgram(['serve'], {
    settings: { DATABASE_URL: url.href, REDIS_URL: redis.url, PORT: '0', OPS_PORT: '0' },
  });
  assert.equal(code, 1, stdout);
  assert.match(stderr, /^error: .*read-only.*\n$/);
  assert.doesNotMatch(stdout, /cleanup|background job failed/);
});
