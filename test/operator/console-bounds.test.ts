import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAccounts, searchedAccountsMax } from '../../src/accounts/accounts.ts';
import { selectOverdueHold } from '../../src/pets/close-overdue-hold.ts';
import { searchedMax, searchPets, searchReadRows } from '../../src/pets/pet-search.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import type { Database } from '../../src/storage/database.ts';
import { createOperatorWebhooks } from '../../src/webhooks/operator-webhooks.ts';
import { selectWebhookPage } from '../../src/webhooks/webhook-rows.ts';
import { findPostgres } from '../support/engines.ts';
import { storeWebhooks } from '../support/stored-webhooks.ts';
import { type ConsoleService, startConsole } from './console-browser.ts';

/** A database that records how many rows each call reads. */
function countRows(database: Database) {
  const counts: number[] = [];
  const read: Database['read'] = async (statement, parameters) => {
    const found = await database.read(statement, parameters);
    counts.push(found.length);
    return found;
  };
  return { counts, database: { ...database, read } as Database };
}

const filter = { limit: 50, status: null, categoryId: null, newestId: null };
const most = (counts: readonly number[]) => counts.reduce((max, count) => Math.max(max, count), 0);
const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);

test('a search by name reads at most the newest 10,000 animals in steps, returns their number, and continues from its cursor', async (t) => {
  const { store, importPets } = await startConsole(t);
  const { id: oldest } = await store.catalogue.add({ name: 'Needle', categoryId: 1n });
  await importPets(searchedMax + 2_000);
  const { counts, database } = countRows(store.database);
  const first = await searchPets(database, 'needle', filter);
  assert.deepEqual([first.pets, first.searched], [[], searchedMax]);
  assert.ok(most(counts) <= searchReadRows + 1);
  assert.ok(sum(counts) <= searchedMax + searchedMax / searchReadRows);
  const second = await searchPets(database, 'NEEDLE', { ...filter, newestId: first.nextNewestId });
  assert.deepEqual([second.pets.map(({ id }) => id), second.searched], [[oldest], 2_001]);
  assert.equal(second.nextNewestId, null);
});

test('a search stops when its page is full, and the next page continues after it', async (t) => {
  const { store, importPets } = await startConsole(t);
  await importPets(400);
  const { counts, database } = countRows(store.database);
  const first = await searchPets(database, 'n', { ...filter, limit: 3 });
  assert.deepEqual(
    first.pets.map(({ name }) => name),
    ['n400', 'n399', 'n398'],
  );
  assert.equal(first.searched, 3);
  const second = await searchPets(database, 'n', { ...filter, limit: 3, newestId: first.nextNewestId });
  assert.deepEqual(
    second.pets.map(({ name }) => name),
    ['n397', 'n396', 'n395'],
  );
  assert.equal(counts.length, 2);
});

test('a search applies its filters', async (t) => {
  const { store, importPets } = await startConsole(t);
  await importPets(30);
  const found = await searchPets(store.database, 'N', { ...filter, status: 'sold', categoryId: 3n });
  assert.deepEqual(
    found.pets.map(({ name }) => name),
    ['n3'],
  );
});

test('with 12,000 accounts, a page reads only its own rows, and a search reads at most 10,000 in steps', async (t) => {
  const { store, openFile } = await startConsole(t);
  openFile().exec(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 12000)
    insert into accounts (name, plan, created_at_ms) select 'shop ' || n, 'free', 1 from numbers`);
  const { counts, database } = countRows(store.database);
  const accounts = createAccounts(database, Date.now);
  const page = await accounts.listPage({ limit: 50, name: '', newestId: null });
  assert.deepEqual([page.accounts.length, page.accounts[0]?.account, sum(counts)], [50, 'shop 12000', 51]);
  const next = await accounts.listPage({ limit: 50, name: '', newestId: page.nextNewestId });
  assert.equal(next.accounts[0]?.account, 'shop 11950');

  counts.length = 0;
  const first = await accounts.listPage({ limit: 50, name: 'SHOP 77', newestId: 5_000n });
  assert.deepEqual([first.accounts.at(-1)?.account, first.nextNewestId], ['shop 77', null]);
  const missed = await accounts.listPage({ limit: 50, name: 'none', newestId: null });
  assert.equal(missed.searched, searchedAccountsMax);
  assert.ok(missed.nextNewestId !== null);
  assert.ok(most(counts) <= 500);
});

test('with 3,000 webhooks, a page reads only its own rows with any filter, and the greatest lag reads a bounded number of rows', async (t) => {
  const { store, openFile, createKey } = await startConsole(t);
  await createKey('pro', undefined, { account: 'Zoo' });
  const file = openFile();
  file.exec('begin');
  storeWebhooks(
    file,
    Array.from({ length: 3_000 }, (_, n) => ({
      id: `wh_${n}`,
      status: n % 100 === 0 ? 'disabled' : 'enabled',
    })),
  );
  file.exec('commit');
  const { counts, database } = countRows(store.database);
  const webhooks = createOperatorWebhooks(database, Date.now);
  const query = { limit: 50, account: null, status: null, newestId: null };
  for (const status of [null, 'disabled'] as const) {
    counts.length = 0;
    const page = await webhooks.listPage({ ...query, status });
    assert.deepEqual(
      [page.webhooks.length, sum(counts)],
      [status === null ? 50 : 30, status === null ? 51 : 30],
    );
  }
  counts.length = 0;
  assert.deepEqual(await webhooks.readLag(), {
    farthest: [],
    disabled: { owner: 30, operator: 0, gone: 0, failing: 0 },
  });
  assert.deepEqual(counts, [0, 1]);

  const explain = (sql: string) =>
    file
      .prepare(`explain query plan ${sql}`)
      .all()
      .map(({ detail }) => String(detail));
  const found = (accountId: bigint | null, status: string | null) =>
    explain(compileStatement(selectWebhookPage({ accountId, status }), 'sqlite').sql).find((detail) =>
      detail.includes(' webhooks '),
    );
  assert.equal(found(null, null), 'SEARCH webhooks USING INTEGER PRIMARY KEY (rowid<?)');
  assert.equal(found(null, 'x'), 'SEARCH webhooks USING INDEX webhooks_by_status (status=? AND id<?)');
  for (const status of [null, 'x'])
    assert.equal(
      found(1n, status),
      'SEARCH webhooks USING INDEX webhooks_by_account (account_id=? AND id<?)',
    );
  assert.deepEqual(explain(compileStatement(selectOverdueHold, 'sqlite').sql), [
    'SEARCH orders USING INDEX orders_owning (pet_id=?)',
  ]);
});

const postgres = await findPostgres();

test('a text that PostgreSQL cannot store gets 404 in a path, and 400 in a query', {
  skip: postgres.skip,
}, async (t) => {
  let service: ConsoleService | undefined;
  t.after(() => service?.stop());
  service = await startConsole(t, { DATABASE_URL: (await postgres.createStore(t)).url });
  const cookie = await service.signIn();
  for (const path of [
    '/accounts/%00/suspend',
    '/accounts/%00/resume',
    '/keys/key_%00/lift-ban',
    '/webhooks/wh_%00/enable',
    '/webhooks/wh_%00/disable',
  ])
    assert.equal((await service.call(cookie, path, { method: 'POST' })).status, 404, path);
  const revoke = { method: 'POST', body: JSON.stringify({ disableWebhooks: true }) };
  assert.equal((await service.call(cookie, '/keys/key_%00/revoke', revoke)).status, 404);
  assert.equal((await service.call(cookie, '/accounts/%00')).status, 404);
  for (const path of [
    '/accounts?name=%00',
    '/pets?name=%00',
    '/orders?reference=%00',
    '/orders?account=%00',
    '/bans?before=%00',
    '/webhooks?account=%00',
    '/audit?account=%00',
  ])
    assert.equal((await service.call(cookie, path)).status, 400, path);
  const created = await service.call(cookie, '/accounts', {
    method: 'POST',
    body: JSON.stringify({ account: 'a\0', plan: 'free' }),
  });
  assert.equal(((await created.json()) as { code: string }).code, 'not_done');
});
