import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { checkRedis } from '../../../src/doctor/redis.ts';
import { testsUnless } from '../../support/programs.ts';
import {
  eventually,
  type RedisServer,
  startSentinels,
  whyNoRedisServer,
} from '../../support/redis-server.ts';
import { tryToShare } from './sharing-instance.ts';

const test = testsUnless(await whyNoRedisServer());

/** Starts an instance that counts through the Sentinels. */
const startInstance = (t: TestContext, url: string) =>
  tryToShare(t, { url, prefix: 'test:' }, undefined, 500);

/** Returns the answer of a server, or an empty text if a Sentinel closes all its connections at that moment. */
async function ask(server: RedisServer, ...parts: string[]): Promise<string> {
  return await server.command(...parts).then(String, () => '');
}

async function isMaster(server: RedisServer): Promise<boolean> {
  return /role:master/.test(await ask(server, 'info', 'replication'));
}

test('instances count exactly through Sentinel before and after a failover, alone during it', async (t) => {
  const { url, master, replica } = await startSentinels(t);
  const [one, two] = [await startInstance(t, url), await startInstance(t, url)];
  const before = await Promise.all([one.send(200, 'account:1'), two.send(200, 'account:1')]);
  assert.equal(before[0] + before[1], 300);
  await master.kill();
  const killedAtMs = performance.now();
  assert.equal(await one.send(400, 'account:2'), 300);
  assert.equal(one.sharing().mode, 'alone');
  await eventually(async () => one.sharing().mode === 'shared' && two.sharing().mode === 'shared');
  const tookMs = performance.now() - killedAtMs;
  t.diagnostic(`counted together again ${Math.round(tookMs)} ms after the kill`);
  const after = await Promise.all([one.send(200, 'account:3'), two.send(200, 'account:3')]);
  assert.equal(after[0] + after[1], 300);
  await eventually(() => isMaster(replica));
  assert.deepEqual(one.modes, ['shared', 'alone', 'shared']);
});

test('instances leave a master that Sentinel has replaced while it still runs', async (t) => {
  const { url, master, replica } = await startSentinels(t);
  const instance = await startInstance(t, url);
  assert.equal(await instance.send(10, 'account:1'), 10);
  master.pause();
  await eventually(() => isMaster(replica));
  master.resume();
  await eventually(async () => {
    await instance.send(1, 'account:2');
    return instance.sharing().mode === 'shared' && (await ask(replica, 'exists', 'test:{account:2}')) === '1';
  });
});

test('the doctor checks the master that Sentinel names', async (t) => {
  const { url } = await startSentinels(t);
  const [answer] = await checkRedis(url);
  assert.equal(answer?.verdict, 'ok');
  assert.match(answer.is, /answers in /);
});

test('an instance says why it counts alone if no Sentinel answers or knows the master', async (t) => {
  const { url } = await startSentinels(t);
  for (const [wrong, reason] of [
    [url.replace('/counts', '/orders'), /knows no master "orders"/],
    ['redis+sentinel://127.0.0.1:1,127.0.0.1:2/counts', /ECONNREFUSED/],
  ] as const)
    assert.match((await startInstance(t, wrong)).whyAlone(), reason);
});
