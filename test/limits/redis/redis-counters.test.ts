import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { dayMs, hourMs, minuteMs } from '../../../src/clock.ts';
import { decide } from '../../../src/limits/rules/decision.ts';
import { freeLimits, limitMax } from '../../../src/plans/plan.ts';
import { readHeader } from '../../support/expect-error.ts';
import { connectCounters, findRedis, type RedisSpace } from '../../support/redis.ts';
import { startRedisCluster, startRedisServer, whyNoRedisServer } from '../../support/redis-server.ts';

const redis = await findRedis();
const noServer = await whyNoRedisServer();

const pro = { perMinute: 300, perDay: 10_000 };
const once = { perMinute: 1, perDay: 1 };
const nowMs = Date.UTC(2027, 0, 2);

function connectThree(t: TestContext, space: Pick<RedisSpace, 'url' | 'prefix'>) {
  return Promise.all([1, 2, 3].map(() => connectCounters(t, space)));
}

describe('several instances on one Redis', { skip: redis.skip }, () => {
  test('use one clock, even if their own clocks differ', async (t) => {
    const instances = await connectThree(t, await redis.createSpace(t));
    const clocks = [Date.now() - dayMs, Date.now(), Date.now() + hourMs];
    let passed = 0;
    const resets = new Set<string | undefined>();
    for (let round = 0; round < 200; round += 1)
      for (const [index, counters] of instances.entries()) {
        const usage = await counters.take('account:1', pro, `key ${index}`, clocks[index] ?? 0);
        if (usage.verdict === 'passed') passed += 1;
        else if (usage.bannedUntilMs === 0)
          resets.add(readHeader(decide(usage, pro).headers, 'x-ratelimit-reset'));
        assert.ok(decide(usage, pro).retryAfterSeconds <= 60);
      }
    assert.equal(passed, 300);
    assert.equal(resets.size, 1);
  });
});

describe('the data in Redis', { skip: redis.skip }, () => {
  test('has an expiry on every key', async (t) => {
    const space = await redis.createSpace(t);
    const counters = await connectCounters(t, space);
    for (let sent = 0; sent < 61; sent += 1) await counters.take('account:1', once, 'banned', nowMs);
    await counters.take('account:1', once, 'refused', nowMs);
    await counters.take('address:192.0.2.1', freeLimits, null, nowMs);
    const keys = await space.listKeys();
    assert.equal(keys.length, 6);
    for (const key of keys) {
      const lifeMs = Number(await space.command('pttl', key));
      assert.ok(lifeMs > 0 && lifeMs <= (key.endsWith(':refused') ? minuteMs : dayMs), `${key}: ${lifeMs}`);
    }
  });

  test('has exact counts up to the highest possible limit', async (t) => {
    const space = await redis.createSpace(t);
    const counters = await connectCounters(t, { ...space, time: 'caller' });
    const limits = { perMinute: limitMax, perDay: limitMax };
    await counters.take('account:1', limits, 'key', nowMs);
    const text = `${limitMax - 1} ${nowMs + minuteMs} ${limitMax - 1} ${nowMs + dayMs}`;
    await space.command('set', `${space.prefix}{account:1}`, text);
    const { verdict, minute, day } = await counters.take('account:1', limits, 'key', nowMs);
    assert.deepEqual([verdict, minute.used, day.endsAtMs], ['passed', limitMax, nowMs + dayMs]);
    assert.equal((await counters.take('account:1', limits, 'key', nowMs)).verdict, 'refused');
  });

  test('of release 1.1.0 still counts: its windows and its bans', async (t) => {
    const space = await redis.createSpace(t);
    const counters = await connectCounters(t, { ...space, time: 'caller' });
    const tag = `${space.prefix}{account:1}`;
    await space.command('set', tag, `59 ${nowMs + minuteMs} 59 ${nowMs + dayMs}`);
    await space.command('set', `${tag}:key:banned`, `${nowMs - 1_000} ${minuteMs} 0`);
    await space.command('set', `${tag}:key:refused`, `0 0 59`);
    const take = (key: string) => counters.take('account:1', freeLimits, key, nowMs);
    const { verdict, bannedUntilMs } = await take('banned');
    assert.deepEqual([verdict, bannedUntilMs], ['banned', nowMs - 1_000 + minuteMs]);
    assert.equal((await take('refused')).minute.used, 60);
    assert.equal((await take('refused')).bannedUntilMs, 0);
  });

  test('has one key for each address with a count, at most as many as the bound', async (t) => {
    const space = await redis.createSpace(t);
    const counters = await connectCounters(t, { ...space, addressesMax: 160 });
    for (let sent = 0; sent < 500; sent += 1)
      await counters.take(`address:stranger-${sent}`, freeLimits, null, nowMs);
    const index = `${space.prefix}{addresses}`;
    assert.equal(await space.command('zcard', index), 160);
    const keys = await space.listKeys();
    assert.equal(keys.filter((key) => key.startsWith(`${index}:`)).length, 160);
  });
});

describe('a Redis with special settings', { skip: noServer }, () => {
  /** Starts a server that has counted one request of a key. `takeMany` sends simultaneous requests of it. */
  async function startUsed(t: TestContext) {
    const server = await startRedisServer(t);
    const counters = await connectCounters(t, { url: server.url, prefix: '' });
    const takeMany = (count: number) =>
      Promise.all(Array.from({ length: count }, () => counters.take('account:1', pro, 'key', nowMs)));
    await takeMany(1);
    return { server, takeMany };
  }

  test('may have lost the Lua scripts', async (t) => {
    const { server, takeMany } = await startUsed(t);
    await server.command('script', 'flush');
    const used = (await takeMany(3)).map(({ minute }) => minute.used);
    assert.deepEqual(used, [2, 3, 4]);
  });

  test('counts all requests of a key in one event loop turn exactly and with one call', async (t) => {
    const { server, takeMany } = await startUsed(t);
    await server.command('config', 'resetstat');
    const outcomes = (await takeMany(400)).map(({ verdict, minute }) => [verdict, minute.used]);
    const passed = Array.from({ length: 299 }, (_, place) => ['passed', place + 2]);
    assert.deepEqual(outcomes, [...passed, ...Array(101).fill(['refused', 300])]);
    assert.match(String(await server.command('info', 'commandstats')), /cmdstat_evalsha:calls=1,/);
  });

  test('may require a user, a password and a database', async (t) => {
    const server = await startRedisServer(t);
    await server.command('acl', 'setuser', 'counter', 'on', '>s%cret', '~*', '+@all');
    const url = new URL(server.url);
    url.username = 'counter';
    url.password = 's%25cret';
    url.pathname = '/3';
    const counters = await connectCounters(t, { url: url.href, prefix: '' });
    assert.equal((await counters.take('account:1', pro, 'key', nowMs)).verdict, 'passed');
    assert.match(String(await server.command('info', 'keyspace')), /db3:keys=2/);
  });

  test('may be a cluster, whose nodes share the accounts', async (t) => {
    const nodes = await startRedisCluster(t);
    const instances = await connectThree(t, { url: nodes[0]?.url ?? '', prefix: 'test:' });
    const counted = async (subject: string, keyId: string | null) => {
      const takes = Array.from({ length: 60 }, () =>
        instances.map((counters) => counters.take(subject, freeLimits, keyId, nowMs)),
      ).flat();
      return (await Promise.all(takes)).filter(({ verdict }) => verdict === 'passed').length;
    };
    for (let id = 1; id <= 20; id += 1) {
      assert.equal(await counted(`account:${id}`, `key ${id}`), 60);
      assert.equal(await counted(`address:192.0.2.${id}`, null), 60);
    }
    for (const { command } of nodes) assert.ok(Number(await command('dbsize')) > 1);
  });
});
