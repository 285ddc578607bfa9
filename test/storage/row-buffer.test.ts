import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeUses } from '../../src/accounts/key-rows.ts';
import type { Database } from '../../src/storage/database.ts';
import { createRowBuffer } from '../../src/storage/row-buffer.ts';
import { findPostgres, openStore, sqliteEngine } from '../support/engines.ts';

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

const postgres = await findPostgres();
const keys = 200;

test('instances that write rows of the same names do not deadlock', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const [one, other] = [await store.open(), await store.open()].map((it) => createRowBuffer(it, writeUses));
  await store.execute(`insert into accounts (name, plan, created_at_ms) values ('a', 'free', 0)`);
  await store.execute(`insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms)
    select 'key_' || n, (select id from accounts), decode(md5(n::text), 'hex'), 'as', 'pets:read', 0
    from generate_series(1, ${keys}) as n`);
  const ids = Array.from({ length: keys }, (_, index) => `key_${index + 1}`);
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
