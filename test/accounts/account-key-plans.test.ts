import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countActiveKeys, selectKeys } from '../../src/accounts/key-rows.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { step } from '../../src/storage/database.ts';
import { describeOnEngines } from '../support/engines.ts';

const page = { accountId: 1n, isCurrent: 1n, count: 21n } as const;
const steps = [
  step(countActiveKeys, { accountId: 1n, nowMs: 5n }),
  step(selectKeys, { ...page, firstId: null }),
  step(selectKeys, { ...page, firstId: 'key_5' }),
];

const values: Record<string, string> = { accountId: '1', nowMs: '5', count: '21', firstId: 'key_5' };

const explanations = {
  sqlite: { explain: 'explain query plan', bytes: 'cast(i as blob)', scan: / api_keys / },
  postgres: { explain: 'explain', bytes: 'int8send(i)', scan: / on api_keys\b(?! first)/ },
};

await describeOnEngines('the plans of statements for keys', (engine) => {
  test('a page of keys and the count of active keys read no revoked keys', async (t) => {
    const store = await engine.createStore(t);
    const database = await store.open();
    const { explain, bytes, scan } = explanations[database.engine];
    await store.execute(`insert into accounts (name, plan, created_at_ms) values ('Zoo', 'free', 0)`);
    await store.execute(`with recursive n (i) as (select cast(1 as bigint) union all select i + 1 from n where i < 20000)
      insert into api_keys (id, account_id, secret_hash, visible_start, scopes, created_at_ms, revoked_at_ms)
        select 'key_' || i, 1, ${bytes}, 'as_stg_', 'pets:read', i, i - 1 from n`);
    for (const analysed of [false, true]) {
      if (analysed) await store.execute('analyze');
      for (const { statement, parameters } of steps) {
        const { sql, names } = compileStatement(statement, database.engine, parameters);
        const filled = sql.replaceAll(/\$(\d+)/g, (_, place) => `'${values[names[place - 1] ?? '']}'`);
        const plan = (await store.execute(`${explain} ${filled}`)) as Readonly<Record<string, unknown>>[];
        const lines = plan.map((row) => String(row['detail'] ?? row['QUERY PLAN']));
        const scans = lines.filter((line) => scan.test(line));
        assert.ok(scans.length > 0);
        for (const line of scans) assert.match(line, /using index api_keys_not_|scan .*using api_keys_not_/i);
      }
    }
  });
});
