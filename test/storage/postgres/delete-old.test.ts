import assert from 'node:assert/strict';
import { deletesOld } from '../../../src/storage/delete-old.ts';
import { findPostgres, openStore } from '../../support/engines.ts';
import { connectPostgres } from '../../support/postgres-databases.ts';
import { testsUnless } from '../../support/programs.ts';
import { eventually } from '../../support/redis-server.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip);

test('a sweep keeps an old row if another instance renews the row meanwhile', async (t) => {
  const { store, database } = await openStore(t, postgres);
  const columns = 'subject, minute_used, minute_ends_at_ms, day_used, day_ends_at_ms';
  await store.execute(`insert into usage_windows (${columns}) values ('account:1', 1, 1, 1, 1)`);
  const other = await connectPostgres(t, store.url);
  await other.query('begin');
  await other.query('update usage_windows set day_ends_at_ms = 3');
  const sweeping = deletesOld('usage_windows', ['subject'], 'day_ends_at_ms')(database, 2);
  const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  await eventually(async () => (await store.execute(waiting)).length === 1);
  await other.query('commit');
  await sweeping;
  assert.equal((await store.execute('select * from usage_windows')).length, 1);
});
