import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parts, tables, tablesWithIds } from '../../../src/storage/postgres/parts.ts';
import { findPostgres } from '../../support/engines.ts';

const postgres = await findPostgres();

/** Tables of the migrations themselves, and one that only release 1.0.0 uses. */
const otherTables = ['schema_migrations', 'schema_migrations_lock', 'idempotency_records'];
/** Tables whose ids no client sees. Their rows are lost without harm, or belong to a row of another table. */
const unseenIds = [
  'event_outbox',
  'inventory_changes',
  'requests',
  'webhook_attempts',
  'webhook_requests',
  'webhook_secrets',
];

const isOurs = (column: string) =>
  `${column}::regclass::text not in (${otherTables.map((name) => `'${name}'`)}) and relnamespace = 'public'::regnamespace`;

const partsSql = {
  table: `select relname::text as name from pg_class where relkind = 'r' and ${isOurs('oid')}`,
  index: `select indexrelid::regclass::text as name from pg_index join pg_class on oid = indrelid
    where ${isOurs('indrelid')}`,
  'foreign key': `select conname::text as name from pg_constraint join pg_class on pg_class.oid = conrelid
    where contype = 'f' and ${isOurs('conrelid')}`,
  trigger: `select concat(tgname, ' on ', relname) as name from pg_trigger join pg_class on pg_class.oid = tgrelid
    where not tgisinternal and ${isOurs('tgrelid')}`,
};

describe('the schema of PostgreSQL', { skip: postgres.skip }, () => {
  for (const [kind, sql] of Object.entries(partsSql))
    test(`has a ${kind} exactly if a start looks for it`, async (t) => {
      const { execute } = await postgres.createStore(t);
      const found = (await execute<{ name: string }>(sql)).map(({ name }) => name);
      const expected = { ...parts, table: tables }[kind] ?? [];
      assert.deepEqual(found.toSorted(), expected.toSorted(), 'src/storage/postgres/parts.ts');
    });

  test('skips lost ids of each table with ids after a promotion', async (t) => {
    const { execute } = await postgres.createStore(t);
    const select = "select prosrc as body from pg_proc where proname = 'skip_lost_ids'";
    const [{ body } = assert.fail()] = await execute<{ body: string }>(select);
    const [, list = ''] = /foreach name in array array\[([^\]]*)\]/.exec(body) ?? [];
    const named = Array.from(list.matchAll(/'(\w+)'/g), ([, name]) => name);
    assert.deepEqual(named.sort(), tablesWithIds.toSorted(), 'skip_lost_ids() in the newest migration');
  });

  test('looks for lost ids at an insert into each table with ids, unless no client sees them', async (t) => {
    const { execute } = await postgres.createStore(t);
    const rows = await execute<{ name: string }>(
      "select tgrelid::regclass::text as name from pg_trigger where tgname = 'skip_lost_ids'",
    );
    const looked = rows.map(({ name }) => name);
    const seen = [...looked, ...unseenIds].sort();
    assert.deepEqual(seen, tablesWithIds.toSorted(), 'the trigger skip_lost_ids in the newest migration');
  });

  test('gives each table a primary key', async (t) => {
    const { execute } = await postgres.createStore(t);
    const without = await execute(`select relname from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace
        and not exists (select from pg_index where indrelid = pg_class.oid and indisprimary)`);
    assert.deepEqual(without, []);
  });

  test('lets a publication of all tables refuse no update and no delete', async (t) => {
    const { execute } = await postgres.createStore(t);
    await execute('create publication everything for all tables');
    const columns = await execute<{ table: string; column: string }>(`
      select table_name as table, min(column_name) as column from information_schema.columns
      where table_schema = 'public' and is_identity = 'NO' group by table_name`);
    assert.ok(columns.length > tables.length);
    for (const { table, column } of columns)
      await execute(`update ${table} set ${column} = ${column}; delete from ${table} where false`);
  });

  for (const table of ['event_horizon', 'inventory_totals', 'server_timeline'])
    test(`refuses a second row in ${table}`, async (t) => {
      const { execute } = await postgres.createStore(t);
      await assert.rejects(execute(`insert into ${table} select * from ${table}`), { code: '23505' });
    });
});
