import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { startRedisServer, whyNoRedisServer } from '../support/redis-server.ts';
import { startService } from '../support/service.ts';

for (const [counters, skip, start] of [
  ['in memory', false, async () => ({})],
  [
    'in Redis',
    await whyNoRedisServer(),
    async (t: TestContext) => ({ REDIS_URL: (await startRedisServer(t)).url }),
  ],
] as const)
  test(`a ban by counters ${counters} writes one log line with the account and the key id, and refusals none`, {
    skip,
  }, async (t) => {
    const service = await startService(t, { LOG_REQUESTS: 'errors', ...(await start(t)) });
    const key = await service.createKey('free', undefined, { account: 'Happy Paws' });
    const send = (count: number) =>
      Promise.all(Array.from({ length: count }, () => service.request(key, '/pets')));
    await send(119);
    assert.deepEqual(service.findLines('banned'), []);
    await send(11);
    const [{ id = '' } = {}] = await service.store.keyring.list();
    const [{ level, account, keyId, until } = assert.fail(), ...others] = service.findLines('banned');
    assert.deepEqual([level, account, keyId, others], [40, 'Happy Paws', id, []]);
    assert.equal(new Date(String(until)).toISOString(), until);
  });
