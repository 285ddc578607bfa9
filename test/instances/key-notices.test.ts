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

/** Time in ms within which a notification must take effect. It is generous, because a machine may be busy. */
const noticeMsMax = 10_000;
const revokeMsMax = 5_000;

/** Selects the connections that listen for notifications. */
const listeners = `from pg_stat_activity where datname = current_database()
  and (query like 'listen %' or query = 'select 1') and pid <> pg_backend_pid()`;

/** Starts two services with a clock that does not move, so that cached keys never expire. */
async function startTwo(t: TestContext) {
  const started: TestService[] = [];
  // This callback is registered first, so that it runs before the database is dropped.
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

describe('every instance is notified of a changed key', { skip: postgres.skip }, () => {
  test('a revoked key is refused by all instances, although each had cached it', async (t) => {
    const { services } = await startTwo(t);
    const key = await services[0].createKey();
    for (const service of services) assert.equal((await service.request(key, '/pets')).status, 200);
    await services[0].store.keyring.revoke(await findKeyId(services[0]));
    for (const service of services) await untilStatus(service, key, 401);
  });

  test('a change of plan takes effect on all instances', async (t) => {
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

  test('the keys of other accounts stay cached', async (t) => {
    const { store, services } = await startTwo(t);
    const [service] = services;
    const keys: string[] = [];
    for (const account of ['a', 'b']) keys.push(await service.createKey('free', undefined, { account }));
    const listStatuses = () =>
      Promise.all(keys.map(async (key) => (await service.request(key, '/pets')).status));
    assert.deepEqual(await listStatuses(), [200, 200]);
    // With session_replication_role = replica, no trigger runs and no notification is sent.
    await store.execute(`
      begin;
      set local session_replication_role = replica;
      update api_keys set revoked_at_ms = 1;
      commit`);
    await store.execute(`update accounts set plan = plan where name = 'a'`);
    await until(listStatuses, ([first]) => first === 401, noticeMsMax);
    assert.deepEqual(await listStatuses(), [401, 200]);
  });

  test('a change that was made while no instance was listening takes effect when the instances listen again', async (t) => {
    const { store, services } = await startTwo(t);
    const key = await services[0].createKey();
    for (const service of services) assert.equal((await service.request(key, '/pets')).status, 200);
    await cutListeners(store);
    await services[0].store.keyring.revoke(await findKeyId(services[0]));
    for (const service of services) await untilStatus(service, key, 401);
    await untilListening(store, services.length);
  });

  test('a listener reconnects after the server has closed its connection', async (t) => {
    const { store, services } = await startTwo(t);
    await cutListeners(store);
    await untilListening(store, services.length);
    const key = await services[0].createKey();
    for (const service of services) assert.equal((await service.request(key, '/pets')).status, 200);
    await services[0].store.keyring.revoke(await findKeyId(services[0]));
    for (const service of services) await untilStatus(service, key, 401);
  });
});

test('without notifications, a revoke takes effect within 5 s', {
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
