import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  deleteAccount,
  eraseAccount,
  eraseDeletedAccounts,
  erasures,
} from '../../src/accounts/delete-account.ts';
import { createAudit } from '../../src/audit/audit-log.ts';
import { dayMs } from '../../src/clock.ts';
import { sequenceEvents } from '../../src/events/sequence-events.ts';
import type { Database } from '../../src/storage/database.ts';
import { createFailedRequests } from '../../src/usage/failed-requests.ts';
import { createUsageCounts } from '../../src/usage/usage.ts';
import { listTables, readContents } from '../contracts/store-contents.ts';
import { describeOnEngines } from '../support/engines.ts';
import { furnish, insertWebhook, listColumns, names } from './furnished-account.ts';
import { createWorld, fieldOf, fieldsOf, makePlan } from './world.ts';

async function readAll(database: Database): Promise<string> {
  return JSON.stringify(await readContents(database));
}

const count = async (execute: (sql: string) => Promise<readonly unknown[]>, table: string) =>
  Number(((await execute(`select count(*) as n from ${table}`))[0] as { n: unknown }).n);

/** Tables whose rows an erasure deletes, or whose columns it blanks. */
const erased: ReadonlySet<string> = new Set(erasures.map(({ table }) => table));

/** The other tables with the id of an account, each with why an erasure leaves them. */
const kept = {
  ban_lifts: 'it has only the ids of the account and of its keys',
  erasures: 'it has only the ids of accounts whose erasure is not over',
  limit_resets: 'it has only the id of the account',
};

/** Returns a database whose writes fail from the given one on, as those of a process that is killed. */
function failFrom(database: Database, write: number): Database {
  let writes = 0;
  return new Proxy(database, {
    get(target, name: keyof Database) {
      if (name === 'run' || name === 'transact') writes += 1;
      if (writes >= write) throw new Error('killed');
      return target[name];
    },
  });
}

await describeOnEngines('deleting an account', (engine) => {
  test('it leaves no name, reference or request of the account in any table', async (t) => {
    const { accounts, store, pets, readRows, database, clock } = await furnish(t, engine);
    const { execute } = store;
    const before = await readAll(database);
    for (const name of names) assert.ok(before.includes(name), name);
    const events = (await count(execute, 'events')) + (await count(execute, 'event_outbox'));
    assert.deepEqual(await accounts.delete('Ms Smith', null), { keys: 1, webhooks: 1, holds: 2 });
    const after = await readAll(database);
    for (const name of names) assert.ok(!after.includes(name), name);
    assert.ok(after.includes('Ark-1'));
    const cancelled = 'available, cancelled';
    const left = ['sold owned, completed', cancelled, cancelled, 'pending owned, reserved', cancelled];
    assert.deepEqual(await Promise.all(pets.map(readRows)), left);
    await sequenceEvents(database);
    assert.equal(await count(execute, 'events'), events + 4);
    const emptied = ['requests', 'first_answers', 'usage_hours', 'usage_days', 'usage_windows', 'webhooks'];
    for (const table of [...emptied, 'webhook_attempts', 'key_bans'])
      assert.equal(await count(execute, table), 0, table);
    const { items: entries } = await createAudit(database, clock.now).list({ limit: 1 });
    const deleted = ['account.deleted', 'deleted-1', 'deleted-1'];
    assert.deepEqual(fieldsOf(entries, 'action', 'subject', 'account'), [deleted]);
    assert.deepEqual(fieldOf(await accounts.list(), 'account'), ['Ark']);
  });

  test('each table with the id of an account is one that the erasure knows', async (t) => {
    const { store, database } = await createWorld(t, engine);
    const left: string[] = [];
    for (const table of await listTables(database))
      if (!erased.has(table) && (await listColumns(store, table)).includes('account_id')) left.push(table);
    assert.deepEqual(left, Object.keys(kept), 'src/accounts/delete-account.ts');
  });

  test('a deleted or an unknown account is refused', async (t) => {
    const { accounts } = await createWorld(t, engine);
    await accounts.create('Ms Smith', makePlan('free'));
    await accounts.delete('Ms Smith', null);
    for (const name of ['Ms Smith', 'deleted-1', 'None'])
      await assert.rejects(accounts.delete(name, null), { message: /^there is no account/ });
  });

  test('a new account can have only the former name of a deleted one', async (t) => {
    const { accounts } = await createWorld(t, engine);
    await accounts.create('Ms Smith', makePlan('free'));
    await accounts.delete('Ms Smith', null);
    await assert.rejects(accounts.create('deleted-1', makePlan('free')), { name: 'OperatorError' });
    await accounts.create('Ms Smith', makePlan('free'));
  });

  test('with days to keep, an account whose order was completed within them stays as it is', async (t) => {
    const { accounts, store, database } = await furnish(t, engine);
    const before = await readAll(database);
    await assert.rejects(accounts.delete('Ms Smith', 1), { message: /^the account "Ms Smith" is kept/ });
    assert.equal(await readAll(database), before);
    await store.execute(`update orders set closed_at_ms = closed_at_ms - ${dayMs} where id = 1`);
    assert.equal((await accounts.delete('Ms Smith', 1)).holds, 2);
  });

  test('an erasure that was killed after any write is finished by the job of a service', async (t) => {
    const { database, clock } = await furnish(t, engine);
    const by = { actor: { kind: 'command', name: 'ann' }, nowMs: clock.now() } as const;
    await database.transact(deleteAccount, { name: 'Ms Smith', keptMs: null, by });
    const expectKill = ({ message }: Error) => assert.equal(message, 'killed');
    for (let write = 1; write < 40; write += 3)
      await eraseDeletedAccounts(failFrom(database, write)).catch(expectKill);
    await eraseDeletedAccounts(database);
    const after = await readAll(database);
    for (const name of names) assert.ok(!after.includes(name), name);
  });

  test('a hold that its client cancels in that moment is not counted', async (t) => {
    const { database, orders, smith } = await furnish(t, engine);
    const transact: Database['transact'] = async (cancel, input) => {
      await orders.close('cancel', (input as { id: bigint }).id, smith);
      return await database.transact(cancel, input);
    };
    assert.equal(await eraseAccount({ ...database, transact }, 1n), 0);
  });

  test('an instance that was cut off during the erasure writes no count and no request of the account', async (t) => {
    const { accounts, store, database, clock, smith } = await furnish(t, engine);
    const usage = createUsageCounts(database, clock.now);
    const requests = createFailedRequests(database, clock.now);
    const of = {
      operation: null,
      subject: null,
      code: null,
      message: null,
      requestId: 'r',
      durationMs: 1,
      keyId: null,
    };
    for (const status of [404, 429]) {
      usage.note(smith, status);
      requests.note({ ...of, accountId: smith.accountId, address: '192.0.2.7', status });
    }
    usage.note({ accountId: 2n }, 404);
    requests.note({ ...of, accountId: null, address: '192.0.2.8', status: 401 });
    await accounts.delete('Ms Smith', null);
    await Promise.all([usage.flush(), requests.flush()]);
    const select = (table: string) =>
      store.execute<{ account_id: unknown }>(`select account_id from ${table}`);
    assert.deepEqual(
      (await select('usage_hours')).map((row) => String(row.account_id)),
      ['2'],
    );
    assert.deepEqual(
      (await select('requests')).map((row) => row.account_id),
      [null],
    );
  });

  test('what a service wrote after the deletion is erased too, until a minute is over', async (t) => {
    const { accounts, store, database, id } = await furnish(t, engine);
    const { execute } = store;
    await accounts.delete('Ms Smith', null);
    await execute(`update accounts set deleted_at_ms = 9000000000000 where id = 1`);
    await execute('insert into usage_hours values (1, 0, 7, 0, 0)');
    await execute(`update orders set reference = 'Smith-1017' where account_id = 1`);
    await execute(insertWebhook('1', id));
    await eraseDeletedAccounts(database);
    assert.ok(!(await readAll(database)).includes('Smith-1017'));
    for (const table of ['usage_hours', 'usage_days', 'webhooks'])
      assert.equal(await count(execute, table), 0, table);
    assert.equal(await count(execute, 'erasures'), 1);
    await execute('update accounts set deleted_at_ms = 1 where id = 1');
    await eraseDeletedAccounts(database);
    assert.equal(await count(execute, 'erasures'), 0);
  });
});
