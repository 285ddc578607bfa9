import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { dayMs, hourMs, minuteMs } from '../../src/clock.ts';
import { createCounterStore } from '../../src/limits/memory/counter-store.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import { freeLimits } from '../../src/plans/plan.ts';
import type { Database } from '../../src/storage/database.ts';
import { describeOnEngines, openStore } from '../support/engines.ts';

const startMs = Date.UTC(2027, 0, 2, 12);
const addressesMax = 3;

/** Contract tests of src/limits/memory/counter-store.ts. */
await describeOnEngines('storing counts', (engine) => {
  /** Opens a store for counters. `start` simulates a new process after the previous one was killed. */
  async function open(t: Pick<TestContext, 'after'>) {
    const { store, database } = await openStore(t, engine);
    const time = { nowMs: startMs };

    async function start(over: Database = database) {
      const counters = createMemoryCounters({ addressesMax });
      const counterStore = createCounterStore({ counters, database: over, clock: () => time.nowMs });
      await counterStore.load();
      const take = (accountId: number, keyId = 'key') =>
        counters.take(`account:${accountId}`, freeLimits, keyId, time.nowMs);
      const takeFrom = (subject: string) => counters.take(subject, freeLimits, null, time.nowMs);
      const takeFromAddress = () => takeFrom('address:192.0.2.7');
      return { ...counterStore, counters, take, takeFrom, takeFromAddress };
    }
    const countRows = async (table: string) => (await store.execute(`select * from ${table}`)).length;
    return { database, time, start, countRows };
  }

  test('both windows continue after a restart', async (t) => {
    const { start, time } = await open(t);
    const before = await start();
    for (let sent = 0; sent < 40; sent += 1) before.take(1);
    before.takeFromAddress();
    before.takeFrom('reader:192.0.2.7');
    await before.flush();
    time.nowMs += 30_000;
    const after = await start();
    assert.deepEqual(after.take(1), {
      verdict: 'passed',
      atMs: time.nowMs,
      minute: { used: 41, endsAtMs: startMs + minuteMs },
      day: { used: 41, endsAtMs: startMs + dayMs },
      bannedUntilMs: 0,
    });
    assert.equal(after.takeFromAddress().minute.used, 2);
    assert.equal(after.takeFrom('reader:192.0.2.7').minute.used, 2);
  });

  test('an address that is forgotten is deleted from the store, too', async (t) => {
    const { start, time, countRows } = await open(t);
    const process = await start();
    for (let turn = 0; turn < 3; turn += 1, time.nowMs += hourMs) {
      for (let place = 0; place < addressesMax; place += 1) process.takeFrom(`address:${turn}-${place}`);
      await process.flush();
    }
    await process.sweep();
    assert.equal(await countRows('usage_windows'), addressesMax);
  });

  test('the address whose day window opened first is forgotten first after a restart', async (t) => {
    const { start, time } = await open(t);
    const before = await start();
    for (const name of ['c', 'b', 'a']) {
      before.takeFrom(`address:${name}`);
      time.nowMs += 1;
    }
    await before.flush();
    const after = await start();
    after.takeFrom('address:newcomer');
    const used = ['a', 'b', 'c'].map((name) => after.takeFrom(`address:${name}`).day.used);
    assert.deepEqual(used, [2, 2, 1]);
  });

  test('refusals and bans continue after a restart', async (t) => {
    const { start, time } = await open(t);
    let process = await start();
    for (let sent = 0; sent < 119; sent += 1) process.take(1);
    await process.flush();
    time.nowMs += 100;
    process = await start();
    assert.equal(process.take(1).bannedUntilMs, time.nowMs + minuteMs);
    await process.flush();
    process = await start();
    assert.equal(process.take(1).verdict, 'banned');
    await process.flush();
    time.nowMs += minuteMs;
    process = await start();
    for (let sent = 0; sent < 119; sent += 1) process.take(1);
    assert.equal(process.take(1).bannedUntilMs, time.nowMs + 2 * minuteMs);
  });

  test('a lift that is applied again leaves a later ban of another process in the store', async (t) => {
    const { start, time } = await open(t);
    async function provokeBan(refusals: number) {
      const process = await start();
      for (let sent = 0; sent < refusals; sent += 1) process.take(1);
      await process.flush();
      return process;
    }
    const first = await provokeBan(120);
    time.nowMs += 1;
    for (const ban of ['its own', 'of another']) {
      first.counters.lift('account:1', 'key', startMs);
      await first.flush();
      if (ban === 'its own') await provokeBan(60);
    }
    assert.equal((await start()).take(1).verdict, 'banned');
  });

  test('a restart does not restore what has expired', async (t) => {
    const { start, time } = await open(t);
    const before = await start();
    for (let sent = 0; sent < 61; sent += 1) before.take(1);
    await before.flush();
    time.nowMs += dayMs;
    const { counters } = await start();
    assert.deepEqual([counters.windows.accounts.size, counters.keys.size], [0, 0]);
  });

  test('a minute window that ends after its day window is restored', async (t) => {
    const { start, time } = await open(t);
    const before = await start();
    before.take(1);
    time.nowMs += dayMs - 1;
    before.take(1);
    await before.flush();
    time.nowMs += 1;
    const { minute, day } = (await start()).take(1);
    assert.deepEqual([minute.used, day.used], [2, 1]);
  });

  test('a full minute window is restored even if it was written after the end of its day window', async (t) => {
    const { start, time, countRows } = await open(t);
    let process = await start();
    const takeBoth = () => [process.take(1).verdict, process.takeFromAddress().verdict];
    takeBoth();
    await process.flush();
    time.nowMs += dayMs - 300;
    for (let sent = 0; sent < 60; sent += 1) takeBoth();
    time.nowMs += 350;
    assert.deepEqual(takeBoth(), ['refused', 'refused']);
    for (const _ of ['written', 'left alone']) {
      await process.flush();
      await process.sweep();
    }
    process = await start();
    assert.deepEqual(takeBoth(), ['refused', 'refused']);
    time.nowMs += 2 * minuteMs;
    await process.sweep();
    assert.equal(await countRows('usage_windows'), 0);
  });

  test('every subject is restored with its own count, even if there are more than one read returns', async (t) => {
    const { start } = await open(t);
    const before = await start();
    const subjects = 10_500;
    for (let id = 0; id < subjects; id += 1) for (let sent = 0; sent <= id % 3; sent += 1) before.take(id);
    await before.flush();
    const after = await start();
    assert.equal(after.counters.windows.accounts.size, subjects);
    for (let id = 0; id < subjects; id += 1) assert.equal(after.take(id).minute.used, (id % 3) + 2);
  });

  test('a flush writes only what has changed, also during another flush', async (t) => {
    const { start, database } = await open(t);
    let writes = 0;
    const transact: Database['transact'] = (work, input) => {
      writes += 1;
      return database.transact(work, input);
    };
    const process = await start({ ...database, transact });
    process.take(1);
    const first = process.flush();
    await Promise.resolve();
    for (const id of [1, 2]) process.take(id);
    await Promise.all([first, process.flush(), process.flush()]);
    assert.equal(writes, 2);
    const after = await start();
    assert.deepEqual([after.take(1).day.used, after.take(2).day.used], [3, 2]);
  });

  test('a sweep, unlike a flush, deletes all expired rows', async (t) => {
    const { start, time, countRows } = await open(t);
    const process = await start();
    const countBoth = async () => [await countRows('usage_windows'), await countRows('key_bans')];
    for (let id = 0; id < 2_500; id += 1) process.take(id);
    for (let sent = 0; sent < 60; sent += 1) process.take(0);
    await process.flush();
    time.nowMs += dayMs + minuteMs + 1;
    await process.flush();
    assert.deepEqual(await countBoth(), [2_500, 1]);
    await process.sweep();
    assert.deepEqual(await countBoth(), [0, 0]);
  });

  test('rows that were written with a fast clock refuse requests for at most one window', async (t) => {
    const { start, time } = await open(t);
    time.nowMs = startMs + 1_000 * dayMs;
    const ahead = await start();
    for (let sent = 0; sent < 120; sent += 1) ahead.take(1);
    await ahead.flush();
    time.nowMs = startMs;
    const after = await start();
    assert.equal(after.take(1).verdict, 'banned');
    time.nowMs += minuteMs;
    assert.equal(after.take(1).verdict, 'passed');
  });
});
