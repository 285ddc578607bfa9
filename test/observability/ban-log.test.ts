import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';
import { startService } from '../support/service.ts';

const noRedis = await whyNoRedisServer();

/** Sends `count` simultaneous requests with a key on Free. Returns the log lines about a ban. */
async function sendTooMany(t: TestContext, count: number, settings: Record<string, string>) {
  const service = await startService(t, { LOG_REQUESTS: 'errors', ...settings });
  const key = await service.createKey('free', undefined, { account: 'Happy Paws' });
  await Promise.all(Array.from({ length: count }, () => service.request(key, '/pets')));
  const [{ id = '' } = {}] = await service.store.keyring.list();
  const lines = service.findLines('banned');
  return { id, lines };
}

const ways = [
  { counters: 'in memory', skip: false, start: async () => ({}) },
  {
    counters: 'in Redis',
    skip: noRedis,
    start: async (t: TestContext) => ({ REDIS_URL: (await startRedisServer(t)).url }),
  },
] as const;

for (const { counters, skip, start } of ways) {
  test(`a ban by counters ${counters} writes one log line with the account and the key id`, {
    skip,
  }, async (t) => {
    const { id, lines } = await sendTooMany(t, 130, await start(t));
    const [{ level, account, keyId, until } = assert.fail(), ...others] = lines;
    assert.deepEqual([level, account, keyId, others], [40, 'Happy Paws', id, []]);
    assert.equal(new Date(String(until)).toISOString(), until);
  });

  test(`refusals by counters ${counters} without a ban write no log line`, { skip }, async (t) => {
    assert.deepEqual((await sendTooMany(t, 119, await start(t))).lines, []);
  });
}
