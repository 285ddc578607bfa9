import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, type TestContext, test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { createMemoryCounters } from '../../src/limits/counters-memory.ts';
import { createRedisCounters } from '../../src/limits/counters-redis.ts';
import { createSharedCounters } from '../../src/limits/counters-shared.ts';
import type { Limits } from '../../src/plans/plan.ts';
import { findRedis } from '../support/redis.ts';
import {
  eventually,
  type RedisServer,
  startRedisCluster,
  startRedisServer,
  whyNoRedisServer,
} from '../support/redis-server.ts';
import { startRelay } from '../support/relay.ts';

const redis = await findRedis();
const noServer = await whyNoRedisServer();

const pro: Limits = { perMinute: 300, perDay: 10_000 };
const onceADay: Limits = { perMinute: 1, perDay: 1 };

/** An instance that shares its counts by a Redis, which it tries to reach every few milliseconds. */
async function startInstance(t: TestContext, { url, prefix }: { url: string; prefix: string }) {
  const changes = new EventEmitter();
  const counters = createSharedCounters({
    shared: createRedisCounters({ url, prefix }),
    local: createMemoryCounters(),
    clock: systemClock,
    onChange: ({ mode }) => changes.emit(mode),
    probeMs: 10,
  });
  t.after(counters.close);
  await counters.probe();

  const take = async (limits = pro, subject = 'account:1', keyId: string | null = 'key') =>
    counters.take(subject, limits, keyId, Date.now());

  return {
    ...counters,
    take,
    /** Comes to pass when the instance has come to count so. */
    async counts(mode: 'shared' | 'alone'): Promise<void> {
      if (counters.sharing().mode !== mode) await once(changes, mode);
    },
    /** Sends requests at once; gives how many of them pass. */
    async send(count: number, subject?: string): Promise<number> {
      const usages = await Promise.all(Array.from({ length: count }, () => take(pro, subject)));
      return usages.filter(({ verdict }) => verdict === 'passed').length;
    },
  };
}

/** An instance whose way to Redis can be cut, silenced and mended. */
async function startBehindRelay(t: TestContext) {
  const space = await redis.createSpace(t);
  const relay = await startRelay(t, space.url);
  return { space, relay, instance: await startInstance(t, { url: relay.url, prefix: space.prefix }) };
}

describe('an instance that cannot reach the shared counters', { skip: redis.skip, timeout: 60_000 }, () => {
  test('counts for itself from the start, and says why', async (t) => {
    const instance = await startInstance(t, { url: 'redis://127.0.0.1:1', prefix: '' });
    const sharing = instance.sharing();
    assert.ok(sharing.mode === 'alone');
    assert.match(sharing.reason, /ECONNREFUSED/);
    assert.equal(await instance.send(1_000), 300);
  });

  test('answers within the call, and does not ask again for each request', async (t) => {
    const { relay, instance } = await startBehindRelay(t);
    await relay.cut();
    await instance.take();
    assert.equal(instance.sharing().mode, 'alone');
    const usage = instance.peek('address:192.0.2.1', Date.now());
    assert.ok(!(usage instanceof Promise));
    assert.equal(usage.minuteUsed, 0);
  });

  test('loses no request to a way that breaks under load', async (t) => {
    const { relay, instance } = await startBehindRelay(t);
    const running = instance.send(3_000);
    await relay.cut();
    assert.ok((await running) >= 300);
    await instance.counts('alone');
    assert.equal(await instance.send(1_000), 0);
  });

  test('lets no request hang when Redis falls silent', async (t) => {
    const { relay, instance } = await startBehindRelay(t);
    await instance.take();
    relay.silence();
    assert.equal(await instance.send(1_000), 299);
    const sharing = instance.sharing();
    assert.ok(sharing.mode === 'alone');
    assert.equal(sharing.reason, 'Redis does not answer');
  });

  test('goes on from the counts that it has last seen', async (t) => {
    const { space, relay, instance } = await startBehindRelay(t);
    const other = await startInstance(t, space);
    assert.equal(await other.send(298), 298);
    assert.equal((await instance.take()).minuteUsed, 299);
    await relay.cut();
    assert.equal(await instance.send(100), 1);
  });

  test('keeps a ban that another instance has seen begin', async (t) => {
    const { space, relay, instance } = await startBehindRelay(t);
    const other = await startInstance(t, space);
    for (let sent = 0; sent < 61; sent += 1) await other.take(onceADay);
    const { bannedUntilMs } = await instance.take(onceADay);
    await relay.cut();
    await instance.take(onceADay);
    assert.equal(instance.sharing().mode, 'alone');
    const usage = await instance.take(pro);
    assert.deepEqual([usage.verdict, usage.bannedUntilMs], ['banned', bannedUntilMs]);
  });

  test('shares again when it can, from where the shared counts are', async (t) => {
    const { relay, instance } = await startBehindRelay(t);
    await instance.send(10);
    await relay.cut();
    assert.equal(await instance.send(5), 5);
    await relay.mend();
    await instance.counts('shared');
    assert.equal((await instance.take()).minuteUsed, 11);
  });

  test('lets no more through when the way comes and goes', async (t) => {
    const { relay, instance } = await startBehindRelay(t);
    await instance.take();
    let passed = 0;
    for (let cuts = 0; cuts < 3; cuts += 1) {
      await relay.cut();
      passed += await instance.send(400);
      await relay.mend();
      await instance.counts('shared');
      await instance.take({ perMinute: 1, perDay: 1 });
    }
    assert.equal(passed, 299);
  });

  test('counts alone what comes after it is closed', async (t) => {
    const { instance } = await startBehindRelay(t);
    const running = instance.send(100);
    instance.close();
    assert.ok((await running) >= 100);
    assert.equal(instance.sharing().mode, 'alone');
  });
});

describe('instances that share a Redis in trouble', { skip: noServer, timeout: 120_000 }, () => {
  async function startTwo(t: TestContext, ...settings: string[]) {
    const server = await startRedisServer(t, ...settings);
    const place = { url: server.url, prefix: '' };
    return { server, instances: [await startInstance(t, place), await startInstance(t, place)] as const };
  }

  test('each count for themselves when it is killed, and share again when it is back', async (t) => {
    const { server, instances } = await startTwo(t);
    const [first, second] = instances;
    assert.deepEqual([await first.send(200), await second.send(50)], [200, 50]);
    await server.kill();
    assert.deepEqual(await Promise.all([first.send(400), second.send(400)]), [100, 50]);
    await server.start();
    await Promise.all([first.counts('shared'), second.counts('shared')]);
    const passed = await Promise.all([first.send(200, 'account:2'), second.send(200, 'account:2')]);
    assert.equal(passed[0] + passed[1], 300);
  });

  test('have their counts again when it is started on what it has written', async (t) => {
    const { server, instances } = await startTwo(t, '--appendonly', 'yes', '--appendfsync', 'always');
    const [first] = instances;
    await first.send(250);
    await server.kill();
    await first.counts('alone');
    await server.start();
    await first.counts('shared');
    assert.equal(await first.send(100), 50);
  });

  test('wait for no process that stands still, and share again when it goes on', async (t) => {
    const { server, instances } = await startTwo(t);
    const [first, second] = instances;
    await first.send(100);
    server.pause();
    assert.deepEqual(await Promise.all([first.send(300), second.send(400)]), [200, 300]);
    assert.deepEqual([first.sharing().mode, second.sharing().mode], ['alone', 'alone']);
    server.resume();
    await Promise.all([first.counts('shared'), second.counts('shared')]);
  });

  test('leave one that has become a replica, until it is the primary again', async (t) => {
    const { server, instances } = await startTwo(t);
    const [first] = instances;
    await server.command('replicaof', '127.0.0.1', '1');
    assert.equal(await first.send(400), 300);
    assertAlone(first, /READONLY/);
    await server.command('replicaof', 'no', 'one');
    await first.counts('shared');
  });

  test('leave one whose memory is full, until there is room', async (t) => {
    const { server, instances } = await startTwo(t);
    const [first] = instances;
    await server.command('config', 'set', 'maxmemory', '1');
    assert.equal(await first.send(400), 300);
    assertAlone(first, /OOM/);
    await server.command('config', 'set', 'maxmemory', '0');
    await first.counts('shared');
  });

  test('do not count on one that is still loading what it has written', async (t) => {
    const { server, instances } = await startTwo(t);
    const [first] = instances;
    for (let id = 1; id <= 100; id += 1) await first.send(1, `account:${id}`);
    await server.command('save');
    await server.kill();
    await first.counts('alone');
    await server.start('--key-load-delay', '5000', '--loading-process-events-interval-bytes', '1024');
    await eventually(async () => /LOADING/.test(reasonOf(first)));
    assert.equal(await first.send(400, 'account:101'), 300);
    await first.counts('shared');
    assert.equal((await first.take()).minuteUsed, 2);
  });

  test('leave a cluster that misses a node, and find it again, once it is whole, by any of its nodes', async (t) => {
    const nodes = await startRedisCluster(t);
    const [firstNode, lastNode] = [nodes.at(0), nodes.at(-1)] as [RedisServer, RedisServer];
    const relay = await startRelay(t, firstNode.url);
    const instance = await startInstance(t, { url: relay.url, prefix: 'test:' });
    const accounts = Array.from({ length: 30 }, (_, index) => `account:${index}`);
    const sendAll = () => Promise.all(accounts.map((account) => instance.send(2, account)));
    assert.deepEqual(await sendAll(), Array(30).fill(2));
    await relay.cut();
    await lastNode.kill();
    assert.deepEqual(await sendAll(), Array(30).fill(2));
    await instance.counts('alone');
    await lastNode.start();
    await eventually(async () => {
      assert.deepEqual(await sendAll(), Array(30).fill(2));
      return instance.sharing().mode === 'shared';
    });
  });
});

type Instance = Awaited<ReturnType<typeof startInstance>>;

function assertAlone(instance: Instance, reason: RegExp): void {
  assert.equal(instance.sharing().mode, 'alone');
  assert.match(reasonOf(instance), reason);
}

function reasonOf(instance: Instance): string {
  const sharing = instance.sharing();
  return sharing.mode === 'alone' ? sharing.reason : '';
}
