import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { createCounterStore } from '../../../src/limits/memory/counter-store.ts';
import { createMemoryCounters } from '../../../src/limits/memory/memory-counters.ts';
import { findPostgres } from '../../support/engines.ts';
import { eventually } from '../../support/redis-server.ts';

const postgres = await findPostgres();
const nowMs = Date.UTC(2027, 0, 2, 12);

for (const [table, columns, end] of [
  ['usage_windows', `(subject, minute_used, minute_ends_at_ms, day_used, day_ends_at_ms)`, 'day_ends_at_ms'],
  [
    'key_bans',
    `(key_id, banned_until_ms, last_ban_at_ms, last_ban_ms, forget_at_ms, refused_at_ms)`,
    'forget_at_ms',
  ],
] as const)
  test(`a sweep keeps a row of ${table} if another instance renews the row meanwhile`, {
    skip: postgres.skip,
  }, async (t) => {
    const store = await postgres.createStore(t);
    const database = await store.open();
    const ones = columns.replaceAll(/\w+/g, `'1'`);
    await store.execute(`insert into ${table} ${columns} values ${ones}`);
    const other = new Client({ connectionString: store.url });
    other.on('error', () => undefined);
    await other.connect();
    await other.query('begin');
    await other.query(`update ${table} set ${end} = ${nowMs + 60_000}`);
    const counterStore = createCounterStore({
      counters: createMemoryCounters(),
      database,
      clock: () => nowMs,
    });
    const sweeping = counterStore.sweep();
    const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await eventually(async () => (await store.execute(waiting)).length === 1);
    await other.query('commit');
    await other.end();
    await sweeping;
    assert.equal((await store.execute(`select * from ${table}`)).length, 1);
  });
