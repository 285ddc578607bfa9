import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs, hourMs } from '../../src/clock.ts';
import { createUsageCounts, listUsage } from '../../src/usage/usage.ts';
import { fieldOf, makePlan } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';
import { openAdministration } from './administration.ts';

await describeOnEngines('the usage of accounts', (engine) => {
  test('usage is summed over instances by account and hour', async (t) => {
    const { accounts, database, store, clock } = await openAdministration(t, engine);
    await accounts.create('Zoo', makePlan('free'));
    await accounts.create('Ark', makePlan('free'));
    const [zoo, ark] = [await accounts.findId('Zoo'), await accounts.findId('Ark')];
    const byZoo = { accountId: zoo };
    const one = createUsageCounts(database, clock.now);
    const other = createUsageCounts(await store.open(), clock.now);
    const firstMs = clock.now();
    for (const counts of [one, other])
      for (const status of [200, 304, 404, 429, 503]) counts.note(byZoo, status);
    one.note({ accountId: ark }, 201);
    clock.advance(hourMs - 1);
    one.note({ ...byZoo }, 200);
    clock.advance(1);
    one.note(byZoo, 429);
    await Promise.all([one.flush(), other.flush()]);
    other.note(byZoo, 200);
    await other.flush();
    await other.flush();
    const list = (id: bigint) => listUsage(database, id, clock.now());
    assert.deepEqual(await list(zoo), [
      { atMs: firstMs, requests: 11, refusals: 2, errors: 4 },
      { atMs: firstMs + hourMs, requests: 2, refusals: 1, errors: 0 },
    ]);
    assert.deepEqual(await list(ark), [{ atMs: firstMs, requests: 1, refusals: 0, errors: 0 }]);
  });

  test('usage is kept for 7 days', async (t) => {
    const { accounts, database, store, clock } = await openAdministration(t, engine);
    await accounts.create('Zoo', makePlan('free'));
    await accounts.create('Ark', makePlan('free'));
    const [zoo, ark] = [await accounts.findId('Zoo'), await accounts.findId('Ark')];
    const counts = createUsageCounts(database, clock.now);
    for (const accountId of [zoo, ark]) counts.note({ accountId }, 200);
    clock.advance(hourMs);
    counts.note({ accountId: zoo }, 200);
    await counts.flush();
    clock.advance(7 * dayMs);
    assert.equal((await listUsage(database, zoo, clock.now())).length, 1);
    clock.advance(hourMs);
    await counts.sweep();
    const rows = await store.execute<{ account_id: unknown }>('select account_id from usage_hours');
    assert.deepEqual(fieldOf(rows, 'account_id').map(String), [String(zoo)]);
  });
});
