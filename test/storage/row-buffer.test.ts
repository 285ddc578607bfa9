import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { writeUses } from '../../src/accounts/key-rows.ts';
import { createCounterStore } from '../../src/limits/memory/counter-store.ts';
import { createMemoryCounters } from '../../src/limits/memory/memory-counters.ts';
import type { Database } from '../../src/storage/database.ts';
import { createRowBuffer } from '../../src/storage/row-buffer.ts';
import { findPostgres, openStore, sqliteEngine } from '../support/engines.ts';
import { startCounting } from '../support/postgres-messages.ts';

const postgres = await findPostgres();

test('a flush waits for an earlier flush that is still writing', async (t) => {
  const { database } = await openStore(t, sqliteEngine);
  const opened = Promise.withResolvers<void>();
  const transact: Database['transact'] = async (work, input) => {
    await opened.promise;
    return await database.transact(work, input);
  };
  const uses = createRowBuffer({ ...database, transact }, writeUses);
  const settled: string[] = [];
  uses.add('key_1', 60_000);
  const earlier = uses.flush().then(() => settled.push('earlier'));
  const last = uses.flush().then(() => settled.push('last'));
  await new Promise(setImmediate);
  assert.deepEqual(settled, []);
  opened.resolve();
  await Promise.all([earlier, last]);
  assert.deepEqual(settled, ['earlier', 'last']);
});

const keys = 200;

/** Opens two instances over a connection that lists the errors of the server. `ids` are those of the keys. */
async function openTwo(t: TestContext) {
  const store = await postgres.createStore(t);
  await store.execute(`insert into accounts (name, plan, created_at_ms) values ('a', 'free', 0)`);
  await store.execute(`insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
    select 'key_' || n, (select id from accounts), decode(md5(n::text), 'hex'), 'as', 'pets:read', 0
    from generate_series(1, ${keys}) as n`);
  const ids = Array.from({ length: keys }, (_, index) => `key_${index + 1}`);
  const { url, errorCodes } = await startCounting(t, store.url);
  return { store, ids, errorCodes, instances: [await store.open(url), await store.open(url)] };
}

describe('instances that write rows of the same names', { skip: postgres.skip }, () => {
  test('do not deadlock', async (t) => {
    const { store, ids, instances } = await openTwo(t);
    const [one, other] = instances.map((it) => createRowBuffer(it, writeUses));
    for (let minute = 1; minute <= 5; minute += 1) {
      for (const id of ids) one?.add(id, minute * 60_000);
      for (const id of ids.toReversed()) other?.add(id, minute * 60_000);
      await Promise.all([one?.flush(), other?.flush()]);
    }
    const [told] =
      await store.execute(`select pg_stat_clear_snapshot(), (select deadlocks::int from pg_stat_database
    where datname = current_database()) as deadlocks, (select count(*)::int from api_keys
    where last_used_at_ms = 300000) as written`);
    assert.partialDeepStrictEqual(told, { deadlocks: 0, written: keys });
  });

  test('repeat no flush for a conflict of key uses, windows or conduct', async (t) => {
    const { store, ids, instances, errorCodes } = await openTwo(t);
    const flushes = instances.map((database) => {
      const uses = createRowBuffer(database, writeUses);
      const counters = createMemoryCounters();
      const counts = createCounterStore({ counters, database, clock: () => 0 });
      return async (round: number) => {
        for (const id of ids) {
          uses.add(id, round * 60_000);
          // The second request is refused, which changes the conduct of the key.
          for (let times = 0; times < 2; times += 1)
            counters.take(`account:${id}`, { perMinute: round, perDay: round }, id, 0);
        }
        await Promise.all([uses.flush(), counts.flush()]);
      };
    });
    for (let round = 1; round <= 5; round += 1) await Promise.all(flushes.map((flush) => flush(round)));
    assert.ok(!errorCodes.includes('40001'));
    const [written] = await store.execute(`select (select count(*)::int from usage_windows) as windows,
      (select count(*)::int from key_bans) as conduct`);
    assert.deepEqual(written, { windows: keys, conduct: keys });
  });
});
