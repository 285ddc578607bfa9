import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Database } from '../database.ts';
import type { Tables } from '../tables.ts';
import { notifyAccountChanges } from './account-notices.ts';
import { columnTypes } from './column-types.ts';

/**
 * The first schema: animals, accounts, keys, idempotency records, rate limit counts, bans, and the secret of the
 * cursors.
 */
export function firstMigration(engine: Engine): Migration {
  async function up(db: Kysely<Tables>): Promise<void> {
    const parts = [createPets, createAccounts, createIdempotencyRecords, createCounts, createSecrets];
    for (const statement of parts.flatMap((create) => create(engine))) await statement.execute(db);
    await db
      .insertInto('secrets')
      .values({ name: 'cursor', value: randomBytes(32) })
      .execute();
  }

  return { up };
}

type Engine = Database['engine'];

function createPets(engine: Engine) {
  const { id, integer, end } = columnTypes[engine];
  // Three comparisons instead of `status in (…)`. SQLite builds a table for the list, and the lookup in it took a
  // quarter of the time of an insert.
  return [
    sql`create table pets (
      id ${id},
      name text not null,
      category_id ${integer} not null,
      status text not null check (status = 'available' or status = 'pending' or status = 'sold')
    ) ${end}`,
    ...indexStatuses(engine),

    sql`create table pet_edits (count ${integer} not null) ${end}`,
    sql`insert into pet_edits values (0)`,
    ...countEdits(engine),
  ];
}

function createAccounts(engine: Engine) {
  const { id, integer, bytes, end } = columnTypes[engine];
  return [
    sql`create table accounts (
      id ${id},
      name text not null unique,
      plan text not null check (plan in ('free', 'pro', 'business', 'enterprise')),
      per_minute ${integer} check (per_minute >= 1),
      per_day ${integer} check (per_day >= 1),
      created_at_ms ${integer} not null,
      check ((plan = 'enterprise') = (per_minute is not null and per_day is not null))
    ) ${end}`,

    sql`create table api_keys (
      id text primary key,
      account_id ${integer} not null references accounts (id),
      secret_hash ${bytes} not null unique,
      visible_start text not null,
      scopes text not null,
      created_at_ms ${integer} not null,
      expires_at_ms ${integer},
      revoked_at_ms ${integer},
      last_used_at_ms ${integer}
    ) ${end}`,
    sql`create index api_keys_by_account on api_keys (account_id)`,
    ...(engine === 'postgres' ? notifyAccountChanges() : []),
  ];
}

function createIdempotencyRecords(engine: Engine) {
  const { integer, bytes, end } = columnTypes[engine];
  return [
    sql`create table idempotency_records (
      account_id ${integer} not null references accounts (id),
      key text not null,
      body_hash ${bytes} not null,
      pet_id ${integer} not null,
      created_at_ms ${integer} not null,
      primary key (account_id, key)
    ) ${end}`,
    sql`create index idempotency_records_by_age on idempotency_records (created_at_ms)`,
  ];
}

function createCounts(engine: Engine) {
  const { integer, end } = columnTypes[engine];
  return [
    sql`create table usage_windows (
      subject text primary key,
      minute_used ${integer} not null,
      minute_ends_at_ms ${integer} not null,
      day_used ${integer} not null,
      day_ends_at_ms ${integer} not null
    ) ${end}`,
    sql`create index usage_windows_by_end on usage_windows (day_ends_at_ms)`,

    sql`create table key_bans (
      key_id text primary key,
      banned_until_ms ${integer} not null,
      last_ban_at_ms ${integer} not null,
      last_ban_ms ${integer} not null,
      refused_at_ms text not null,
      forget_at_ms ${integer} not null
    ) ${end}`,
    sql`create index key_bans_by_end on key_bans (forget_at_ms)`,
  ];
}

function createSecrets(engine: Engine) {
  const { bytes, end } = columnTypes[engine];
  return [sql`create table secrets (name text primary key, value ${bytes} not null) ${end}`];
}

/**
 * The indexes for pages of one status.
 *
 * PostgreSQL has one index for each status. With one index of all statuses, PostgreSQL would assume that the statuses
 * are evenly mixed. It might then scan by id and filter out most rows.
 *
 * SQLite has one index of all statuses. If the store has statistics, SQLite may ignore an index of one status.
 * `available` comes last in the index of all statuses. Most new animals are available, so they are added at the end of
 * the index.
 */
function indexStatuses(engine: Engine) {
  if (engine === 'sqlite') return [sql`create index pets_by_status on pets (status desc, id)`];
  return ['available', 'pending', 'sold'].map(
    (status) =>
      sql`create index ${sql.ref(`pets_${status}_by_id`)} on pets (id) where status = ${sql.lit(status)}`,
  );
}

/**
 * Counts every change of an animal by any program, except an insert with the next id. The count shows when a cached
 * response is stale. Migration 0002 removes the count.
 */
function countEdits(engine: Engine) {
  if (engine === 'sqlite') {
    const count = sql`begin update pet_edits set count = count + 1; end`;
    return [
      sql`create trigger pets_updated after update on pets ${count}`,
      sql`create trigger pets_deleted after delete on pets ${count}`,
      // In this trigger, new.id is -1 if SQLite will assign the id. The service itself never inserts an explicit id.
      sql`create trigger pets_put before insert on pets when new.id <> -1 ${count}`,
    ];
  }
  return [
    sql`create function count_pet_edit() returns trigger language plpgsql as
      'begin update pet_edits set count = count + 1; return null; end'`,
    sql`create trigger pets_edited after update or delete or truncate on pets
      for each statement execute function count_pet_edit()`,
  ];
}
