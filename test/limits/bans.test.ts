import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { until } from '../support/processes.ts';
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
  test(`a ban by counters ${counters} writes the only log line, with the account and the key id`, {
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

/** A generous time limit for a busy machine. A lift must take effect within 2 s. */
const waitMsMax = 60_000;

test('a ban that a running service lists ends once it is lifted', async (t) => {
  // The clock of the service does not move, so no ban expires.
  const service = await startService(t);
  const { bans, keyring } = service.store;
  const key = await service.createKey('free', undefined, { account: 'Zoo' });
  const readCode = async () =>
    ((await (await service.request(key, '/pets')).json()) as { code?: string }).code;
  for (let count = 0; count < 121; count += 1) await readCode();
  assert.equal(await readCode(), 'key_banned');
  const listBans = () => bans.list();
  const [ban] = await until(listBans, ({ length }) => length === 1, waitMsMax);
  const [{ id = '', bannedUntilMs = null } = {}] = await keyring.list('Zoo');
  assert.deepEqual([ban?.keyId, ban?.endsAtMs], [id, bannedUntilMs]);
  await bans.lift(id);
  await until(readCode, (code) => code === 'rate_limit_exceeded', waitMsMax);
  await until(listBans, ({ length }) => length === 0, waitMsMax);
});
