import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dayMs, hourMs } from '../../src/clock.ts';
import { int64Max } from '../../src/int64.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { addHours, createUsageCounts, listUsage } from '../../src/usage/usage.ts';
import { listDays, listUsageDays, readDayPage } from '../../src/usage/usage-days.ts';
import { fieldOf, makePlan } from '../accounts/world.ts';
import { describeOnEngines } from '../support/engines.ts';
import { runMigration } from '../support/older-schema.ts';
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

  test('a day has the sum of its hours in UTC, over all instances', async (t) => {
    const { accounts, database, store, clock } = await openAdministration(t, engine);
    await accounts.create('Zoo', makePlan('free'));
    const zoo = await accounts.findId('Zoo');
    const instances = [database, await store.open()].map((each) => createUsageCounts(each, clock.now));
    const firstMs = clock.now() - (clock.now() % dayMs);
    clock.advance(firstMs + dayMs - 1 - clock.now());
    for (const ms of [1, hourMs, hourMs]) {
      for (const counts of instances)
        for (const status of [200, 429, 404, 500]) counts.note({ accountId: zoo }, status);
      clock.advance(ms);
      await Promise.all(instances.map((counts) => counts.flush()));
    }
    assert.deepEqual(await listUsageDays(database, zoo, clock.now()), [
      { atMs: firstMs, requests: 8, refusals: 2, errors: 4 },
      { atMs: firstMs + dayMs, requests: 16, refusals: 4, errors: 8 },
    ]);
  });

  test('instances that write the hours of one day at once lose no count', async (t) => {
    const { accounts, database, store, clock } = await openAdministration(t, engine);
    await accounts.create('Zoo', makePlan('free'));
    await accounts.create('Ark', makePlan('free'));
    const ids = [await accounts.findId('Zoo'), await accounts.findId('Ark')];
    const atMs = clock.now() - (clock.now() % dayMs);
    const write = (each: typeof database, hours: readonly number[]) =>
      each.transact(
        addHours,
        ids.flatMap((accountId) =>
          hours.map((hour) => {
            const counts = { requests: 1, refusals: 0, errors: 0 };
            return [`${accountId} ${hour}`, { accountId, atMs: atMs + hour * hourMs, ...counts }] as const;
          }),
        ),
      );
    const instances = [database, await store.open(), await store.open()];
    const orders = [[0, 1, 2], [1, 2], [2]];
    for (let round = 0; round < 20; round += 1)
      await Promise.all(instances.map((each, index) => write(each, orders[index] ?? [])));
    for (const id of ids)
      assert.deepEqual(await listUsageDays(database, id, clock.now()), [
        { atMs, requests: 120, refusals: 0, errors: 0 },
      ]);
  });

  test('a write of counts that fails adds nothing to a day', async (t) => {
    const { accounts, database, store, clock } = await openAdministration(t, engine);
    await accounts.create('Zoo', makePlan('free'));
    const accountId = await accounts.findId('Zoo');
    const day = { accountId, atMs: clock.now() - (clock.now() % dayMs), requests: 1, refusals: 0, errors: 0 };
    await database.transact(addHours, [['first', day]]);
    await store.execute(`update usage_hours set requests = ${int64Max}`);
    const entries = [['1', { ...day, atMs: day.atMs + hourMs }] as const, ['2', day] as const];
    await assert.rejects(database.transact(addHours, entries));
    assert.equal((await listUsageDays(database, accountId, clock.now()))[0]?.requests, 1);
  });

  test('usage by day is kept for 13 months', async (t) => {
    const { accounts, database, store, clock } = await openAdministration(t, engine);
    await accounts.create('Zoo', makePlan('free'));
    const accountId = await accounts.findId('Zoo');
    const counts = createUsageCounts(database, clock.now);
    const dayOf = () => new Date(clock.now() - (clock.now() % dayMs));
    const first = dayOf();
    counts.note({ accountId }, 200);
    await counts.flush();
    const later = new Date(first);
    later.setUTCMonth(later.getUTCMonth() + 13);
    clock.advance(later.getTime() + dayMs - 1 - clock.now());
    await counts.sweep();
    const list = () => listUsageDays(database, accountId, clock.now());
    assert.deepEqual((await list())[0]?.atMs, first.getTime());
    assert.deepEqual(await store.execute('select * from usage_hours'), []);
    clock.advance(3 * dayMs);
    await counts.sweep();
    assert.deepEqual(await store.execute('select * from usage_days'), []);
  });

  test('a store of an older release gets the days of its hours', async (t) => {
    const store = await engine.createStore(t);
    const undo =
      engine.name === 'SQLite'
        ? ['drop trigger usage_hours_added']
        : ['drop trigger add_usage_days on usage_hours', 'drop function add_usage_days'];
    for (const statement of [...undo, 'drop table usage_days']) await store.execute(statement);
    const hours = [0, 1, 23, 24].map((hour) => `(1, ${hour * hourMs}, 10, 2, 1)`);
    await store.execute(`insert into usage_hours values ${hours}`);
    await runMigration(store, '0010-usage-days');
    const database = await openDatabase(store.url);
    t.after(() => database.close());
    assert.deepEqual(await listUsageDays(database, 1n, 0), [
      { atMs: 0, requests: 30, refusals: 6, errors: 3 },
      { atMs: dayMs, requests: 10, refusals: 2, errors: 1 },
    ]);
  });

  test('the list of days has pages, the newest day first', async (t) => {
    const { accounts, database } = await openAdministration(t, engine);
    for (const name of ['Zoo', 'Ark']) await accounts.create(name, makePlan('free'));
    const counts = { requests: 3, refusals: 2, errors: 1 };
    const entries = [0, 1, 2].flatMap((day) =>
      [1n, 2n].map(
        (accountId) => [`${accountId} ${day}`, { accountId, atMs: day * dayMs, ...counts }] as const,
      ),
    );
    await database.transact(addHours, entries);
    const first = await readDayPage(database, { limit: 3 });
    const shown = ({ day, account }: (typeof first.items)[number]) => `${day} ${account}`;
    assert.deepEqual(first.items.map(shown), ['1970-01-03 Ark', '1970-01-03 Zoo', '1970-01-02 Ark']);
    const second = await readDayPage(database, { limit: 3, first: first.next });
    assert.deepEqual(second.items.map(shown), ['1970-01-02 Zoo', '1970-01-01 Ark', '1970-01-01 Zoo']);
    assert.equal(second.next, null);
    assert.deepEqual(first.items[0], {
      day: '1970-01-03',
      account: 'Ark',
      requests: 3,
      refused: 2,
      errors: 1,
    });
    const range = { accountId: 1n, sinceMs: dayMs + 1, untilMs: 2 * dayMs, limit: 1 };
    const listed = await Array.fromAsync(listDays(database, range));
    assert.deepEqual(listed.flat().map(shown), ['1970-01-02 Zoo']);
  });
});
