import assert from 'node:assert/strict';
import { deletesOld } from '../../../src/storage/delete-old.ts';
import { findPostgres, openStore } from '../../support/engines.ts';
import { connectPostgres } from '../../support/postgres-databases.ts';
import { testsUnless } from '../../support/programs.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip);

test('a sweep passes over a row that another instance renews meanwhile', async (t) => {
  const { store, database } = await openStore(t, postgres);
  const columns = 'subject, minute_used, minute_ends_at_ms, day_used, day_ends_at_ms';
  await store.execute(
    `insert into usage_windows (${columns}) values ('account:1', 1, 1, 1, 1), ('account:2', 1, 1, 1, 1)`,
  );
  const other = await connectPostgres(t, store.url);
  await other.query('begin');
  await other.query("update usage_windows set day_ends_at_ms = 3 where subject = 'account:1'");
  await deletesOld('usage_windows', ['subject'], 'day_ends_at_ms')(database, 2);
  await other.query('commit');
  assert.deepEqual(await store.execute('select subject from usage_windows'), [{ subject: 'account:1' }]);
});
