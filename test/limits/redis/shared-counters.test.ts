import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { hourMs, minuteMs, secondMs, systemClock } from '../../../src/clock.ts';
import { createCounterStore } from '../../../src/limits/memory/counter-store.ts';
import { createMemoryCounters, type MemoryCounters } from '../../../src/limits/memory/memory-counters.ts';
import { sqliteEngine } from '../../support/engines.ts';
import { findRedis } from '../../support/redis.ts';
import {
  eventually,
  type RedisServer,
  startRedisCluster,
  startRedisServer,
  whyNoRedisServer,
} from '../../support/redis-server.ts';
import { startRelay } from '../../support/relay.ts';
import { onceADay, startInstance, tryToShare } from './sharing-instance.ts';

const redis = await findRedis();
const noServer = await whyNoRedisServer();

/** The last slot of the first node of `startRedisCluster`. */
const lastSlotOfFirst = 5_460;

/** Starts an instance behind a relay to Redis that a test can cut, silence and restore. */
async function startBehindRelay(t: TestContext, local?: MemoryCounters) {
  const space = await redis.createSpace(t);
  const relay = await startRelay(t, space.url);
  return { space, relay, instance: await startInstance(t, { url: relay.url, prefix: space.prefix }, local) };
}

describe('instances that share their counts', { skip: redis.skip }, () => {
  test('do not restore a lifted ban that one of them still keeps', async (t) => {
    const space = await redis.createSpace(t);
    const instance = await startInstance(t, space);
    const other = await startInstance(t, space);
    for (let sent = 0; sent < 61; sent += 1) await instance.take(onceADay);
    assert.equal((await other.take(onceADay)).verdict, 'banned');
    const liftedAtMs = Date.now();
    await instance.lift('account:1', 'key of account:1', liftedAtMs);
    assert.equal((await other.take(onceADay)).verdict, 'banned');
    assert.equal((await instance.take(onceADay)).verdict, 'refused');
    await other.lift('account:1', 'key of account:1', liftedAtMs);
    for (const each of [other, instance]) assert.equal((await each.take(onceADay)).verdict, 'refused');
  });

  test('do not restore a lifted ban from an answer that was under way during the lift', async (t) => {
    const instance = await startInstance(t, await redis.createSpace(t));
    for (let sent = 0; sent < 61; sent += 1) await instance.take(onceADay);
    const underWay = instance.take(onceADay);
    // Requests are sent at the end of a turn.
    await nextTurn();
    const lifting = instance.lift('account:1', 'key of account:1', Date.now());
    assert.equal((await underWay).verdict, 'banned');
    await lifting;
    assert.equal((await instance.take(onceADay)).verdict, 'refused');
    assert.equal(instance.keptBan('key of account:1')?.banMs, 0);
  });
});

describe('an instance that cannot reach the shared counters', { skip: redis.skip }, () => {
  test('says why it counts alone from the start', async (t) => {
    const instance = await tryToShare(t, { url: 'redis://127.0.0.1:1', prefix: '' });
    assert.match(instance.whyAlone(), /ECONNREFUSED/);
    assert.equal(await instance.send(1_000), 300);
  });

  test('loses no request when the connection breaks under load', async (t) => {
    const { relay, instance } = await startBehindRelay(t);
    const running = instance.send(3_000);
    await relay.cut();
    assert.ok((await running) >= 300);
    await instance.counts('alone');
    assert.equal(await instance.send(1_000), 0);
  });

  test('lets no request hang when Redis stops responding', async (t) => {
    const { relay, instance } = await startBehindRelay(t);
    await instance.take();
    relay.silence();
    assert.equal(await instance.send(1_000), 299);
    assert.match(instance.whyAlone(), /^Redis does not answer$/);
  });

  test('continues from the counts in the last answer of Redis', async (t) => {
    const { space, relay, instance } = await startBehindRelay(t);
    const other = await startInstance(t, space);
    assert.equal(await other.send(298), 298);
    assert.equal((await instance.take()).minute.used, 299);
    await relay.cut();
    assert.equal(await instance.send(100), 1);
  });

  test('stores the bans that Redis reports, so that they outlive a restart', async (t) => {
    const database = await (await sqliteEngine.createStore(t)).open();
    const load = async () => {
      const counters = createMemoryCounters();
      const store = createCounterStore({ counters, database, clock: systemClock });
      await store.load();
      return { counters, store };
    };
    const before = await load();
    const { relay, instance } = await startBehindRelay(t, before.counters);
    for (let sent = 0; sent < 61; sent += 1) await instance.take(onceADay);
    const { bannedUntilMs } = await instance.take(onceADay);
    await before.store.flush();
    await relay.cut();
    const restarted = await tryToShare(t, { url: relay.url, prefix: '' }, (await load()).counters);
    const first = await restarted.take();
    assert.deepEqual([first.verdict, first.bannedUntilMs], ['banned', bannedUntilMs]);
  });

  test('ends a ban that Redis has reported by the clock of Redis, which may differ', async (t) => {
    const { relay, instance } = await startBehindRelay(t);
    const behindMs = Date.now() - hourMs;
    const takeAt = async (atMs: number) => instance.counters.take('account:1', onceADay, 'key', atMs);
    for (let sent = 0; sent < 61; sent += 1) await takeAt(behindMs);
    await relay.cut();
    await takeAt(behindMs);
    await instance.counts('alone');
    assert.equal((await takeAt(behindMs + minuteMs - secondMs)).verdict, 'banned');
    assert.equal((await takeAt(behindMs + minuteMs + secondMs)).verdict, 'refused');
  });

  test('once it shares counts again, still refuses a key that it banned during the break', async (t) => {
    const { space, relay, instance } = await startBehindRelay(t);
    for (let sent = 0; sent < 12; sent += 1) await instance.take(onceADay);
    await relay.cut();
    let usage = await instance.take(onceADay);
    while (usage.bannedUntilMs === 0) usage = await instance.take(onceADay);
    await relay.mend();
    await instance.counts('shared');
    const { verdict, bannedUntilMs } = await instance.take(onceADay);
    assert.deepEqual([verdict, bannedUntilMs], ['banned', usage.bannedUntilMs]);
    assert.equal((await (await startInstance(t, space)).take(onceADay)).verdict, 'refused');
  });

  test('once it shares counts again, adds nothing that it counted alone', async (t) => {
    const { relay, instance } = await startBehindRelay(t);
    await instance.send(10);
    await relay.cut();
    assert.equal(await instance.send(200), 200);
    await relay.mend();
    await instance.counts('shared');
    assert.equal((await instance.take()).minute.used, 11);
  });

  test('ends a lifted ban for itself during a break, for all once it is lifted again after the break', async (t) => {
    const { space, relay, instance } = await startBehindRelay(t);
    const other = await startInstance(t, space);
    for (let sent = 0; sent < 61; sent += 1) await instance.take(onceADay);
    assert.equal((await other.take(onceADay)).verdict, 'banned');
    await relay.cut();
    assert.equal((await instance.take(onceADay)).verdict, 'banned');
    const liftedAtMs = Date.now();
    const lift = async (at = instance) => at.lift('account:1', 'key of account:1', liftedAtMs);
    assert.equal(await lift(), false);
    assert.equal((await instance.take(onceADay)).verdict, 'refused');
    await relay.mend();
    await instance.counts('shared');
    assert.equal((await instance.take(onceADay)).verdict, 'banned');
    for (const each of [instance, other]) {
      assert.equal(await lift(each), true);
      assert.equal((await each.take(onceADay)).verdict, 'refused');
    }
  });

  test('lets no additional requests through if the connection breaks and recovers repeatedly', async (t) => {
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

  test('counts alone after it is closed', async (t) => {
    const { instance } = await startBehindRelay(t);
    const running = instance.send(100);
    instance.close();
    assert.ok((await running) >= 100);
    assert.equal(instance.sharing().mode, 'alone');
  });
});

describe('instances that share a faulty Redis', { skip: noServer }, () => {
  async function startOn(t: TestContext) {
    const server = await startRedisServer(t);
    return { server, instance: await startInstance(t, { url: server.url, prefix: '' }) };
  }

  for (const [what, fault, end, reason] of [
    ['the server is a replica', ['replicaof', '127.0.0.1', '1'], ['replicaof', 'no', 'one'], /READONLY/],
    ['the memory is full', ['config', 'set', 'maxmemory', '1'], ['config', 'set', 'maxmemory', '0'], /OOM/],
  ] as const)
    test(`count alone while ${what}`, async (t) => {
      const { server, instance } = await startOn(t);
      await server.command(...fault);
      assert.equal(await instance.send(400), 300);
      assert.match(instance.whyAlone(), reason);
      await server.command(...end);
      await instance.counts('shared');
    });

  test('count alone while the server is loading its data', async (t) => {
    const { server, instance } = await startOn(t);
    for (let id = 1; id <= 100; id += 1) await instance.send(1, `account:${id}`);
    await server.command('save');
    await server.kill();
    await instance.counts('alone');
    await server.start('--key-load-delay', '5000', '--loading-process-events-interval-bytes', '1024');
    await eventually(async () => /LOADING/.test(instance.whyAlone()));
    assert.equal(await instance.send(400, 'account:101'), 300);
    await instance.counts('shared');
    assert.equal((await instance.take()).minute.used, 2);
  });

  test('count alone while a cluster misses a node, until any node leads to the complete cluster', async (t) => {
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

  test('count alone only while a slot of a cluster is moved', async (t) => {
    const nodes = await startRedisCluster(t);
    const [source, target] = [nodes.at(0), nodes.at(1)] as [RedisServer, RedisServer];
    const instance = await startInstance(t, { url: source.url, prefix: 'test:' });
    // The account must have a slot in the source node.
    const slots = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const subject = `account:${index}`;
        return { subject, slot: Number(await source.command('cluster', 'keyslot', `test:{${subject}}`)) };
      }),
    );
    const { subject, slot } = slots.find(({ slot }) => slot <= lastSlotOfFirst) ?? assert.fail();
    assert.equal(await instance.send(1, subject), 1);
    const move = async (node: RedisServer, ...how: string[]) => {
      await node.command('cluster', 'setslot', String(slot), ...how);
    };
    await move(target, 'importing', String(await source.command('cluster', 'myid')));
    await move(source, 'migrating', String(await target.command('cluster', 'myid')));
    assert.equal(await instance.send(400, subject), 299);
    assert.match(instance.whyAlone(), /TRYAGAIN/);
    for (const node of [source, target]) await move(node, 'stable');
    await instance.counts('shared');
  });
});
