import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Client } from 'pg';
import { countActiveKeys, selectKeyPage } from '../../src/accounts/key-rows.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import type { Parameters, Statement } from '../../src/storage/database.ts';
import { findPostgres, sqliteEngine } from '../support/engines.ts';

const postgres = await findPostgres();
const revoked = 20_000;
const addAccount = `insert into accounts (name, plan, created_at_ms) values ('Zoo', 'free', 0)`;
const columns = 'id, account_id, secret_hash, visible_start, scopes, created_at_ms, revoked_at_ms';

const statements = [
  countActiveKeys,
  selectKeyPage({ firstId: null }),
  selectKeyPage({ firstId: 'key_5' }),
] as unknown as readonly Statement<Parameters, unknown>[];
const values: Readonly<Record<string, bigint | string>> = {
  accountId: 1n,
  nowMs: 5n,
  count: 21n,
  firstId: 'key_5',
};

/** Requires that each scan of the keys uses an index without revoked keys. */
function expectIndexes(scans: readonly string[]): void {
  assert.ok(scans.length > 0);
  for (const scan of scans) assert.match(scan, /using index api_keys_not_|scan .*using api_keys_not_/i);
}

test('a page of keys and the count of active keys read no revoked keys in SQLite', async (t) => {
  const store = await sqliteEngine.createStore(t);
  await (await store.open()).close();
  const file = new DatabaseSync(store.url.slice('sqlite:'.length));
  t.after(() => file.close());
  file.exec(`${addAccount}; with recursive n (i) as (select 1 union all select i + 1 from n where i < ${revoked})
    insert into api_keys (${columns}) select 'key_' || i, 1, cast(i as blob), 'as_stg_', 'pets:read', i, i - 1 from n`);
  for (const analysed of [false, true]) {
    if (analysed) file.exec('analyze');
    for (const statement of statements) {
      const { sql } = compileStatement(statement, 'sqlite');
      const details = file.prepare(`explain query plan ${sql}`).all();
      expectIndexes(details.map(({ detail }) => String(detail)).filter((text) => / api_keys /.test(text)));
    }
  }
});

test('a page of keys and the count of active keys read no revoked keys in PostgreSQL', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  await (await store.open()).close();
  const client = new Client({ connectionString: store.url });
  await client.connect();
  try {
    await client.query(`${addAccount};
      insert into api_keys (${columns})
        select 'key_' || i, 1, convert_to(i::text, 'UTF8'), 'as_stg_', 'pets:read', i, i - 1
        from generate_series(1, ${revoked}) as i`);
    for (const analysed of [false, true]) {
      if (analysed) await client.query('vacuum analyze api_keys');
      for (const statement of statements) {
        const { sql, names } = compileStatement(statement, 'postgres');
        const given = names.map((name) => String(values[name]));
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, given);
        const plan = rows.map((row) => row['QUERY PLAN']);
        expectIndexes(plan.filter((line) => / on api_keys\b/.test(line) && !line.includes(' first ')));
      }
    }
  } finally {
    await client.end();
  }
});
