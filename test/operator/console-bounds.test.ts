import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { selectAccountsByName } from '../../src/accounts/account-rows.ts';
import { type AccountQuery, createAccounts } from '../../src/accounts/accounts.ts';
import { selectOverdueHold } from '../../src/orders/overdue-holds.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import type { Database } from '../../src/storage/database.ts';
import { createOperatorWebhooks } from '../../src/webhooks/operator-webhooks.ts';
import { createSecretBox } from '../../src/webhooks/secret-box.ts';
import { selectWebhookPage } from '../../src/webhooks/webhook-rows.ts';
import { findPostgres } from '../support/engines.ts';
import { storeWebhooks } from '../support/stored-webhooks.ts';
import { type ConsoleService, startConsole } from './console-browser.ts';

const postgres = await findPostgres();

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

function explain(file: DatabaseSync, { sql }: { readonly sql: string }): string[] {
  const steps = file.prepare(`explain query plan ${sql}`).all();
  return steps.map(({ detail }) => String(detail));
}

test('with 12,000 accounts, a page by age or by the start of a name reads only its own rows', async (t) => {
  const { store, openFile } = await startConsole(t);
  openFile().exec(`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 12000)
    insert into accounts (name, plan, created_at_ms) select 'Shop ' || n, 'free', 1 from numbers`);
  const { counts, database } = countRows(store.database);
  const accounts = createAccounts(database, Date.now);
  const list = async (query: Partial<AccountQuery>) => {
    const page = await accounts.listPage({ limit: 3, order: 'newest', start: '', firstId: null, ...query });
    return { ...page, names: page.items.map(({ account }) => account) };
  };
  const page = await list({});
  assert.deepEqual(page.names, ['Shop 12000', 'Shop 11999', 'Shop 11998']);
  assert.equal((await list({ firstId: page.next })).names[0], 'Shop 11997');
  const named = { order: 'name', start: 'sHOP 119' } as const;
  const first = await list(named);
  assert.deepEqual(first.names, ['Shop 119', 'Shop 1190', 'Shop 11900']);
  assert.equal((await list({ ...named, firstId: first.next })).names[0], 'Shop 11901');
  assert.deepEqual(await list({ order: 'name', start: 'hop' }), { items: [], next: null, names: [] });
  assert.deepEqual(counts, [4, 4, 4, 4, 0]);
  const [step = ''] = explain(
    openFile(),
    compileStatement(selectAccountsByName, 'sqlite', { start: 'x', firstId: 0n, count: 1n }),
  );
  assert.match(step, /^SEARCH accounts USING INDEX accounts_by_name \(<expr>>\? AND <expr><\?\)$/);
});

test('with 3,000 webhooks, a page and the greatest lag read a bounded number of rows', async (t) => {
  const { store, openFile, createKey } = await startConsole(t);
  await createKey('pro', undefined, { account: 'Zoo' });
  const file = openFile();
  file.exec('begin');
  for (let n = 0; n < 3_000; n += 1)
    storeWebhooks(file, [{ id: `wh_${n}`, status: n % 100 === 0 ? 'disabled' : 'enabled' }]);
  file.exec('commit');
  const { counts, database } = countRows(store.database);
  const webhooks = createOperatorWebhooks(database, Date.now, createSecretBox([]));
  const query = { limit: 50, account: null, status: null, newestId: null };
  assert.equal((await webhooks.listPage(query)).items.length, 50);
  assert.equal((await webhooks.listPage({ ...query, status: 'disabled' })).items.length, 30);
  const disabled = { owner: 30, operator: 0, gone: 0, failing: 0, restored: 0 };
  assert.deepEqual(await webhooks.readLag(), { farthest: [], disabled });
  assert.deepEqual(counts, [51, 30, 0, 1]);

  const found = (accountId: bigint | null, status: string | null, isFailing: 1n | null = null) => {
    const asked = { accountId, status, isFailing, publicId: null, newestId: 1n, count: 1n };
    const compiled = compileStatement(selectWebhookPage, 'sqlite', asked);
    return explain(file, compiled).find((detail) => detail.includes(' webhooks '));
  };
  assert.equal(found(null, null), 'SEARCH webhooks USING INTEGER PRIMARY KEY (rowid<?)');
  assert.equal(found(null, null, 1n), 'SEARCH webhooks USING INDEX webhooks_failing (id<?)');
  assert.equal(found(null, 'x'), 'SEARCH webhooks USING INDEX webhooks_by_status (status=? AND id<?)');
  const byAccount = 'SEARCH webhooks USING INDEX webhooks_by_account (account_id=? AND id<?)';
  assert.deepEqual([found(1n, null), found(1n, 'x')], [byAccount, byAccount]);
  assert.deepEqual(explain(file, compileStatement(selectOverdueHold, 'sqlite', { petId: 1n })), [
    'SEARCH orders USING INDEX orders_owning (pet_id=?)',
    'SEARCH pets USING INTEGER PRIMARY KEY (rowid=?)',
  ]);
});

test('no read of the console runs on the thread that serves requests', async (t) => {
  const prepare = t.mock.method(DatabaseSync.prototype, 'prepare');
  const { call, signIn, createKey } = await startConsole(t);
  await createKey('pro', undefined, { account: 'Zoo' });
  const cookie = await signIn();
  /** The lists, each with a part of its statement that no other statement has. */
  const lists = {
    'accounts?sort=requests': /sum\(requests\)/,
    'accounts/Zoo': /as "keys"/,
    bans: /from "key_bans" inner join/,
    'audit?actor=mira': /from "audit" left join/,
    webhooks: /as "events_behind"/,
  };
  for (const list of Object.keys(lists)) assert.equal((await call(cookie, `/${list}`)).status, 200, list);
  const prepared = prepare.mock.calls.map(({ arguments: [sql] }) => String(sql));
  const onThisThread = Object.entries(lists).filter(([, part]) => prepared.some((sql) => part.test(sql)));
  assert.deepEqual(onThisThread, []);
});

test('a text that PostgreSQL cannot store is refused in a path, a query or a body', {
  skip: postgres.skip,
}, async (t) => {
  let service: ConsoleService | undefined;
  t.after(() => service?.stop());
  service = await startConsole(t, { DATABASE_URL: (await postgres.createStore(t)).url });
  const cookie = await service.signIn();
  const send = async (method: string, path: string, body?: object) =>
    service?.call(cookie, path, { method, ...(body && { body: JSON.stringify(body) }) }) ?? assert.fail();
  const acts = 'accounts/%00/suspend accounts/%00/resume keys/key_%00/lift-ban webhooks/wh_%00/enable';
  for (const path of `${acts} webhooks/wh_%00/disable`.split(' '))
    assert.equal((await send('POST', `/${path}`)).status, 404, path);
  assert.equal((await send('POST', '/keys/key_%00/revoke', { disableWebhooks: true })).status, 404);
  assert.equal((await send('GET', '/accounts/%00')).status, 404);
  const filters = 'accounts?name orders?reference orders?account bans?before webhooks?account audit?account';
  for (const filter of filters.split(' '))
    assert.equal((await send('GET', `/${filter}=%00`)).status, 400, filter);
  const created = await send('POST', '/accounts', { account: 'a\0', plan: 'free' });
  assert.equal(((await created.json()) as { code: string }).code, 'not_done');
});
