import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { useStore } from '../../../src/storage/transfer/copy-store.ts';
import { selectSubjects } from '../../contracts/window-rows.ts';
import { findPostgres, type Store } from '../../support/engines.ts';
import { testsUnless } from '../../support/programs.ts';

const postgres = await findPostgres();
const test = testsUnless(postgres.skip);
const namesSql =
  'select distinct application_name as name from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';

/** Opens a store whose connections have a name, and closes it after the test. */
async function openNamed(t: TestContext, name: string): Promise<Store> {
  const store = await postgres.createStore(t);
  const database = await store.open(`${store.url}?application_name=${name}`);
  await database.read(selectSubjects, {});
  return store;
}

test('the connections to PostgreSQL have the name of the address after that of the service', async (t) => {
  const { execute } = await openNamed(t, 'shop%201');
  assert.deepEqual(await execute(namesSql), [{ name: 'animal-store shop 1' }]);
});

test('the connections to PostgreSQL have the name of PGAPPNAME after that of the service', async (t) => {
  process.env['PGAPPNAME'] = 'shop';
  t.after(() => {
    delete process.env['PGAPPNAME'];
  });
  const store = await postgres.createStore(t);
  await (await store.open()).read(selectSubjects, {});
  const names = await store.execute<{ name: string }>(namesSql);
  assert.deepEqual(names, [{ name: 'animal-store shop' }]);
});

test('an instance on PostgreSQL is found whatever the name in its address', async (t) => {
  const store = await openNamed(t, 'x'.repeat(100));
  await assert.rejects(
    useStore(store.url, ({ requireUnserved }) => requireUnserved()),
    { name: 'OperatorError', message: /is in use: stop the instances that use it first$/ },
  );
});
