import { DatabaseSync } from 'node:sqlite';
import type { Engine, Store } from './engines.ts';

/**
 * Number of rows of a large table. Both engines read it as they read a million rows, and a statement that reads a part of
 * it costs many times a page.
 */
export const largeRows = 60_000;

/** Number of rows of the tables beside animals, orders and events. */
const sideRows = largeRows / 3;

/** Accounts of a large store: one with few rows among the many, and one with most of them. */
export const accounts = { few: 1n, many: 2n } as const;
const fewEvery = 6_000;

/** An animal and a reference that many orders have. No order owns the animal. */
export const manyOrders = { petId: 3n, reference: 'A-1' } as const;

/** Rows of one account and, for every account of many, a few of another. */
const ofAccount = `case when n % ${fewEvery} < 2 then ${accounts.few} else ${accounts.many} end`;
const digits = (prefix: string) => `'${prefix}_' || cast(1000000000000000 + n as text)`;
/** `bytes` stands for the engine's type. */
const uniqueBytes = 'cast(cast(n as text) as bytes)';

/** Returns an identifier as the rows have it. `n` counts from 1. */
export const idOf = (prefix: 'key' | 'wh', n: number) => `${prefix}_${1_000_000_000_000_000 + n}`;

const petData = '{"id":1,"name":"Rex","category_id":1,"status":"available"}';
const orderData = `{"id":1,"account_id":2,"pet_id":1,"status":"reserved","reference":null,"created_at_ms":1,
  "expires_at_ms":1,"closed_at_ms":null}`;

/** The columns and values of the rows, by table. `n` counts from 1. */
const rowsOf = {
  accounts: {
    name: `'shop ' || n`,
    plan: `'enterprise'`,
    per_minute: '1000000',
    per_day: '10000000',
    created_at_ms: 'n',
  },
  /** Most are revoked keys of one account. */
  api_keys: {
    id: digits('key'),
    account_id: `case when n % 2 = 0 then ${accounts.many} else n end`,
    secret_hash: uniqueBytes,
    visible_start: `'as_stg_0000'`,
    scopes: `'pets:read'`,
    created_at_ms: 'n',
    revoked_at_ms: 'case when n % 2 = 0 then n end',
  },
  pets: {
    name: `'Rex'`,
    category_id: `case when n % ${fewEvery} < 2 then 2 else 1 end`,
    status: `case when n % 3 = 0 then 'available' when n % 3 = 1 then 'pending' else 'sold' end`,
    is_owned: 'case when n % 3 = 0 then 0 else 1 end',
  },
  categories: { id: 'n', name: `'Dogs'` },
  inventory_by_category: { category_id: 'n', available: '0', pending: '0', sold: '0' },
  /** A third are closed orders of one animal. The others own an animal each. An account has few open holds. */
  orders: {
    account_id: `case when n % 3 = 1 and n % ${fewEvery} > 1 then n % ${sideRows} + 1 else ${ofAccount} end`,
    pet_id: `case when n % 3 = 0 then ${manyOrders.petId} else n end`,
    status: `case when n % 3 = 1 then 'reserved' when n % 3 = 2 then 'completed'
      when n % 9 = 0 then 'cancelled' when n % 9 = 3 then 'expired' else 'returned' end`,
    reference: `case when n % 2 = 0 then '${manyOrders.reference}' end`,
    created_at_ms: '1',
    expires_at_ms: '9000000000000',
    closed_at_ms: 'case when n % 3 <> 1 then 1 end',
  },
  /** First the import of a large catalogue, then orders, each with the change of its animal before it. */
  events: {
    at_ms: '1',
    type: `case when n <= ${largeRows / 2} then 'pet.added' when n % 2 = 0 then 'pet.updated' else 'order.reserved' end`,
    account_id: `case when n <= ${largeRows / 2} or n % 2 = 0 then null
      when n % ${fewEvery} = 1 then ${accounts.few} else ${accounts.many} end`,
    pet_id: `case when n <= ${largeRows / 2} or n % 2 = 0 then n end`,
    data: `case when n <= ${largeRows / 2} or n % 2 = 0 then '${petData}' else '${orderData}' end`,
  },
  first_answers: {
    account_id: `${accounts.many}`,
    key_hash: uniqueBytes,
    operation: `'createPet'`,
    body_hash: uniqueBytes,
    status: '201',
    location: `'/pets/1'`,
    body: `'{}'`,
    created_at_ms: '1',
  },
  key_bans: {
    key_id: digits('key'),
    banned_until_ms: '9000000000000',
    last_ban_at_ms: '1',
    last_ban_ms: '1',
    refused_at_ms: `'[]'`,
    forget_at_ms: '9000000000000',
  },
  webhooks: {
    public_id: digits('wh'),
    account_id: 'n',
    key_id: digits('key'),
    url: `'https://shop.example'`,
    types: `'pet.added order.reserved'`,
    sees_pets: '1',
    sees_orders: `'own'`,
    status: `case when n % 100 = 0 then 'disabled' else 'enabled' end`,
    position: 'n',
    revision: '0',
    failures: 'case when n % 100 = 1 then 1 else 0 end',
    next_attempt_at_ms: '1',
    created_at_ms: '1',
    disabled_because: `case when n % 100 = 0 then 'owner' end`,
  },
  webhook_secrets: { webhook_id: 'n', secret: uniqueBytes },
  webhook_attempts: {
    webhook_id: '(n - 1) / 100 + 1',
    message_id: `'evt_1'`,
    at_ms: '1',
    result: `'200'`,
    duration_ms: '1',
  },
  webhook_requests: { webhook_id: '(n - 1) / 90 + 1', message_id: `'evt_1'`, position: 'n' },
  requests: {
    at_ms: '1',
    last_at_ms: `${Date.UTC(2027, 0, 2, 11)} - n * 1000`,
    account_id: ofAccount,
    key_id: digits('key'),
    status: '404',
    code: `'not_found'`,
    request_id: `'request_' || n`,
    duration_ms: '1',
    times: '1',
  },
  /** 24 hours of each account. */
  usage_hours: {
    account_id: '(n - 1) / 24 + 1',
    hour_at_ms: `${Date.UTC(2027, 0, 2, 11)} - (n % 24) * ${3_600_000}`,
    requests: '1',
    refusals: '1',
    errors: '1',
  },
  /** 20 days of each account. */
  usage_days: {
    account_id: '(n - 1) / 20 + 1',
    day_at_ms: `${Date.UTC(2027, 0, 2)} - (n % 20) * ${86_400_000}`,
    requests: '1',
    refusals: '1',
    errors: '1',
  },
  audit: {
    at_ms: '1',
    actor_kind: `'console'`,
    actor: `'mira in 1'`,
    action: `'pet.changed'`,
    subject: 'cast(n as text)',
    account_id: ofAccount,
  },
} as const;

export type LargeTable = keyof typeof rowsOf;

export const largeTables = Object.keys(rowsOf) as readonly LargeTable[];

/** The tables beside animals, orders and events. */
const sideTables = largeTables.filter((table) => !['pets', 'orders', 'events'].includes(table));

/** Adds `largeRows` rows to each of the tables. No trigger runs, and the engine makes no new statistics. */
export async function fillTables(engine: Engine, store: Store, tables: readonly LargeTable[]): Promise<void> {
  const bytes = engine.name === 'SQLite' ? 'blob' : 'bytea';
  const inserts = tables.map((table) => writeInsert(table).replaceAll('as bytes)', `as ${bytes})`));
  if (engine.name === 'SQLite') return fillSqlite(store, inserts);
  await store.execute(`set session_replication_role = replica; ${inserts.join(';')}`);
}

/** Tables that have fewer rows: those of a bound, and those whose rows are read by one index. */
const rowCounts: Partial<Record<LargeTable, number>> = {
  ...Object.fromEntries(sideTables.map((table) => [table, sideRows])),
  categories: 9_999,
};

function writeInsert(table: LargeTable): string {
  const columns = Object.entries(rowsOf[table]);
  return `insert into ${table} (${columns.map(([name]) => name).join()})
    with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${rowCounts[table] ?? largeRows})
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
