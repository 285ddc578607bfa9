import { DatabaseSync } from 'node:sqlite';
import type { Engine, Store } from './engines.ts';

/**
 * Number of rows of a large table. Both engines read it as they read a million rows, and a statement that reads a part of
 * it costs many times a page.
 */
export const largeRows = 60_000;

/** Accounts of a large store: one with few rows among the many, and one with most of them. */
export const accounts = { few: 1n, many: 2n } as const;
const fewEvery = 6_000;

/** The columns and values of the rows, by table. `n` counts from 1. */
const rowsOf = {
  /** First the import of a large catalogue, then orders, each with the change of its animal before it. */
  events: {
    at_ms: '1',
    type: `case when n <= ${largeRows / 2} then 'pet.added' when n % 2 = 0 then 'pet.updated' else 'order.reserved' end`,
    account_id: `case when n <= ${largeRows / 2} or n % 2 = 0 then null
      when n % ${fewEvery} = 1 then ${accounts.few} else ${accounts.many} end`,
    pet_id: `case when n <= ${largeRows / 2} or n % 2 = 0 then n end`,
    data: `'{}'`,
  },
} as const;

export type LargeTable = keyof typeof rowsOf;

/** Adds `largeRows` rows to each of the tables. No trigger runs, and the engine makes no new statistics. */
export async function fillTables(engine: Engine, store: Store, tables: readonly LargeTable[]): Promise<void> {
  const inserts = tables.map(writeInsert);
  if (engine.name === 'SQLite') return fillSqlite(store, inserts);
  await store.execute(`set session_replication_role = replica; ${inserts.join(';')}`);
}

function writeInsert(table: LargeTable): string {
  const columns = Object.entries(rowsOf[table]);
  return `insert into ${table} (${columns.map(([name]) => name).join()})
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${largeRows})
    select ${columns.map(([, value]) => value).join()} from numbers`;
}

function fillSqlite({ url }: Store, inserts: readonly string[]): void {
  using file = new DatabaseSync(url.replace('sqlite:', ''), { timeout: 5_000 });
  const triggers = file.prepare(`select name, sql from sqlite_schema where type = 'trigger'`).all();
  file.exec('begin');
  for (const { name } of triggers) file.exec(`drop trigger ${name}`);
  for (const sql of inserts) file.exec(sql);
  for (const { sql } of triggers) file.exec(String(sql));
  file.exec('commit');
}

/** Lets the engine make no statistics of its own, so that those of an empty store stay until `analyze` runs. */
export async function keepStatistics(engine: Engine, store: Store): Promise<void> {
  if (engine.name === 'PostgreSQL')
    await store.execute(`do $$ declare name text; begin
      for name in select relname from pg_stat_user_tables loop
        execute format('alter table %I set (autovacuum_enabled = off)', name);
      end loop; end $$`);
  await store.execute('analyze');
}
