import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportAccount, exportParts, unexported } from '../../src/accounts/export-account.ts';
import { stringifyExactJson } from '../../src/exact-json.ts';
import type { Database } from '../../src/storage/database.ts';
import { listTables } from '../contracts/store-contents.ts';
import { createWorld as createCommandWorld } from '../support/command-line.ts';
import { describeOnEngines } from '../support/engines.ts';
import { furnish, listColumns, names } from './furnished-account.ts';
import { createWorld, fieldOf, makePlan } from './world.ts';

/** The columns by which a table may refer to an account: by its id, or by that of its key or of its webhook. */
const owners = ['account_id', 'key_id', 'webhook_id'];

/** The tables that have such a column or a name of an account, and are in no export. */
const left: Readonly<Record<string, string>> = {
  ...unexported,
  webhook_secrets: 'it has only secrets',
};

async function exportAll(database: Database, accountId: bigint) {
  return (await Array.fromAsync(exportAccount(database, accountId))).flat();
}

await describeOnEngines('the export of an account', (engine) => {
  test('has every table that refers to accounts, except those of which it says why not', async (t) => {
    const { store, database } = await createWorld(t, engine);
    const found: string[] = ['accounts', 'usage_windows'];
    for (const table of await listTables(database))
      if ((await listColumns(store, table)).some((column) => owners.includes(column))) found.push(table);
    const exported = new Set<string>(exportParts.map(({ table }) => table));
    assert.deepEqual(
      [...exported, ...Object.keys(left)].sort(),
      found.sort(),
      'src/accounts/export-account.ts',
    );
  });

  test('has every column of its tables, except those of which it says why not', async (t) => {
    const { store } = await createWorld(t, engine);
    for (const { table, columns, leftOut } of exportParts)
      assert.deepEqual([...columns, ...Object.keys(leftOut)].sort(), await listColumns(store, table), table);
  });

  test('has the rows of the account in every table, and no row of another account', async (t) => {
    const { database, store, smith } = await furnish(t, engine);
    const { accountId, keyId } = smith;
    for (const sql of [
      `insert into ban_lifts (key_id, account_id, at_ms) values ('${keyId}', ${accountId}, 1)`,
      `insert into limit_resets (account_id, at_ms) values (${accountId}, 1)`,
      `insert into webhook_attempts (webhook_id, message_id, at_ms, result, duration_ms) values (1, 'evt', 1, '200', 1)`,
      `insert into webhook_requests (webhook_id, message_id, position) values (1, 'evt', 1)`,
    ])
      await store.execute(sql);
    const rows = await exportAll(database, accountId);
    const tables = new Set<string>(fieldOf(rows, 'table'));
    const expected = exportParts.map(({ table }) => table as string);
    const isEmpty = database.hasOneWriter ? ['event_outbox'] : [];
    assert.deepEqual([...tables, ...isEmpty].sort(), [...new Set(expected)].sort());
    const text = stringifyExactJson(rows);
    for (const name of names) assert.ok(text.includes(name), name);
    assert.doesNotMatch(text, /Ark/);
  });

  test('has no secret, no hash and no name of an operator', async (t) => {
    const { database, accountId, key } = await openSecretive(t);
    const text = stringifyExactJson(await exportAll(database, accountId));
    assert.doesNotMatch(text, /hash|secret|ann the operator/i);
    assert.ok(!text.includes(key));
  });

  async function openSecretive(t: Parameters<typeof createWorld>[0]) {
    const world = await createWorld(t, engine);
    const { accounts, keyring, store, database } = world;
    await accounts.create('Zoo', makePlan('pro'));
    const accountId = await accounts.findId('Zoo');
    const { key } = await keyring.issue({
      account: 'Zoo',
      plan: null,
      name: null,
      scopes: null,
      lifetimeMs: null,
    });
    await store.execute(`update audit set actor = 'ann the operator'`);
    return { database, accountId, key };
  }

  test('reads more rows than a page has, each once', async (t) => {
    const { accounts, database, store } = await createWorld(t, engine);
    await accounts.create('Zoo', makePlan('pro'));
    const values = Array.from({ length: 1_501 }, (_, n) => `(1, ${n}, 1, 0, 0)`);
    await store.execute(`insert into usage_days values ${values}`);
    const days = (await exportAll(database, 1n)).filter(({ table }) => table === 'usage_days');
    assert.equal(new Set(fieldOf<{ dayAtMs: unknown }, 'dayAtMs'>(days as never, 'dayAtMs')).size, 1_501);
    const pages = await Array.fromAsync(exportAccount(database, 1n));
    assert.ok(pages.every((page) => page.length <= 500));
  });
});

test('accounts export writes a file that only its owner may read', async (t) => {
  const { print, folder } = await createCommandWorld(t);
  await print('accounts create Zoo --plan free');
  const file = join(folder, 'zoo.ndjson');
  assert.match(await print(`accounts export Zoo --to ${file}`), /^exported 2 rows of Zoo to /);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const [account = ''] = (await readFile(file, 'utf8')).split('\n');
  assert.partialDeepStrictEqual(JSON.parse(account), { table: 'accounts', name: 'Zoo', plan: 'free' });
  assert.match(account, /"createdAt":"2027-01-02T12:00:00\.000Z"/);
});

test('accounts export replaces no file', async (t) => {
  const { print, run, folder } = await createCommandWorld(t);
  await print('accounts create Zoo --plan free');
  const file = join(folder, 'zoo.ndjson');
  await writeFile(file, 'kept');
  assert.equal((await run(`accounts export Zoo --to ${file}`)).code, 1);
  assert.equal(await readFile(file, 'utf8'), 'kept');
  await print(`accounts export Zoo --to ${file} --force`);
  assert.notEqual(await readFile(file, 'utf8'), 'kept');
});

test('accounts export is in the audit log of the account', async (t) => {
  const { print, readJson } = await createCommandWorld(t);
  await print('accounts create Zoo --plan free');
  const lines = (await print('accounts export Zoo --to -')).trimEnd().split('\n');
  const [entry] = await readJson('audit --account Zoo --action account.exported');
  assert.deepEqual([entry.subject, entry.after], ['Zoo', { rows: lines.length }]);
});
