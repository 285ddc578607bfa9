import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { resolvePlan } from '../../src/plans/plan.ts';
import { findPostgres, type Store } from '../support/engines.ts';
import { amplePlan, ask, startInstances, untilAnswered } from '../support/instances.ts';
import { until } from '../support/processes.ts';
import { eventually, startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';
import { startService, type TestService } from '../support/service.ts';

const postgres = await findPostgres();
const noRedis = await whyNoRedisServer();

/** A notice comes within milliseconds; this is for a machine that is busy. */
const noticeMsMax = 10_000;
const revokeMsMax = 5_000;

/** Where the server keeps a connection that listens. */
const listeners = `from pg_stat_activity where datname = current_database()
  and (query like 'listen %' or query = 'select 1') and pid <> pg_backend_pid()`;

/** Two services whose clock stands still, so that what they remember of a key never becomes too old by itself. */
async function startTwo(t: TestContext) {
  const started: TestService[] = [];
  // Before the database is dropped, and so registered first.
  t.after(() => Promise.all(started.map((service) => service.stop())));
  const store = await postgres.createStore(t);
  const settings = { DATABASE_URL: store.url };
  const services = [await startService(t, settings), await startService(t, settings)] as const;
  started.push(...services);
  await untilListening(store, services.length);
  return { store, services };
}

async function untilListening(store: Store, count: number): Promise<void> {
  await eventually(async () => (await store.execute(`select pid ${listeners}`)).length === count);
}

async function cutListeners(store: Store): Promise<void> {
  await store.execute(`select pg_terminate_backend(pid) ${listeners}`);
}

async function findKeyId({ store }: TestService): Promise<string> {
  const [listed] = await store.keyring.list();
  return listed?.id ?? assert.fail();
}

async function untilStatus(service: TestService, key: string, status: number): Promise<void> {
  await until(
    () => service.request(key, '/pets'),
    (response) => response.status === status,
    noticeMsMax,
  );
}

describe('a change of a key is told to every instance', { skip: postgres.skip }, () => {
  test('a revoke ends it at all, though each remembers it', async (t) => {
    const { services } = await startTwo(t);
    const key = await services[0].createKey();
    for (const service of services) assert.equal((await service.request(key, '/pets')).status, 200);
    await services[0].store.keyring.revoke(await findKeyId(services[0]));
    for (const service of services) await untilStatus(service, key, 401);
  });

  test('a change of plan reaches all', async (t) => {
    const { services } = await startTwo(t);
    const key = await services[0].createKey('free', undefined, { account: 'a' });
    const readPolicy = async (service: TestService) =>
      (await service.request(key, '/pets')).headers.get('ratelimit-policy') ?? '';
    for (const service of services) assert.match(await readPolicy(service), /q=60;/);
    const plan = resolvePlan('business', {});
    assert.ok(!('problem' in plan));
    await services[1].store.accounts.setPlan('a', plan);
    for (const service of services)
      await until(
        () => readPolicy(service),
        (policy) => policy.includes('q=1000;'),
        noticeMsMax,
      );
  });

  test('of other accounts nothing is forgotten', async (t) => {
    const { store, services } = await startTwo(t);
    const [service] = services;
    const keys: string[] = [];
    for (const account of ['a', 'b']) keys.push(await service.createKey('free', undefined, { account }));
    const listStatuses = () =>
      Promise.all(keys.map(async (key) => (await service.request(key, '/pets')).status));
    assert.deepEqual(await listStatuses(), [200, 200]);
    // As a replica no trigger runs, so nothing is told of this.
    await store.execute(`
      begin;
      set local session_replication_role = replica;
      update api_keys set revoked_at_ms = 1;
      commit`);
    await store.execute(`update accounts set plan = plan where name = 'a'`);
    await until(listStatuses, ([first]) => first === 401, noticeMsMax);
    assert.deepEqual(await listStatuses(), [401, 200]);
  });

  test('what changed while nobody listened is read again when somebody does', async (t) => {
    const { store, services } = await startTwo(t);
    const key = await services[0].createKey();
    for (const service of services) assert.equal((await service.request(key, '/pets')).status, 200);
    await cutListeners(store);
    await services[0].store.keyring.revoke(await findKeyId(services[0]));
    for (const service of services) await untilStatus(service, key, 401);
    await untilListening(store, services.length);
  });

  test('a connection that the server has ended is made anew, and tells again', async (t) => {
    const { store, services } = await startTwo(t);
    await cutListeners(store);
    await untilListening(store, services.length);
    const key = await services[0].createKey();
    for (const service of services) assert.equal((await service.request(key, '/pets')).status, 200);
    await services[0].store.keyring.revoke(await findKeyId(services[0]));
    for (const service of services) await untilStatus(service, key, 401);
  });
});

test('where nothing can be told, a revoke takes effect within 5 s all the same', {
  skip: postgres.skip || noRedis,
}, async (t) => {
  const { url: redisUrl } = await startRedisServer(t);
  const instances = await startInstances(t, { postgres, redisUrl, count: 2 });
  const { id, key } = await instances.createKey(...amplePlan);
  await instances.store.execute('drop trigger api_keys_changed on api_keys');
  for (const service of instances.services) assert.equal((await ask(service, key)).status, 200);
  await instances.command('keys', 'revoke', id);
  for (const service of instances.services)
    await untilAnswered(service, key, ({ status }) => status === 401, revokeMsMax);
});
