import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { Dialect } from '../database.ts';
import type { Tables } from '../tables.ts';

/** The SQL of each engine. It is frozen once it is released, so it imports nothing that may change. */
const statements: Readonly<Record<Dialect['engine'], readonly string[]>> = {
  sqlite: [
    'alter table api_keys add column replaced_by text',
    'alter table api_keys add column end_before_rotation_ms integer',
    'alter table accounts add column own_per_minute integer',
    'alter table accounts add column own_per_day integer',
    'alter table accounts add column own_until_ms integer',
    'alter table accounts add column deleted_at_ms integer',
    `create table limit_resets (
      id integer primary key autoincrement,
      account_id integer not null,
      at_ms integer not null
    ) strict`,
    `create table requests (
      id integer primary key autoincrement,
      at_ms integer not null,
      last_at_ms integer not null,
      account_id integer,
      key_id text,
      address text,
      operation text,
      status integer not null,
      code text,
      message text,
      request_id text,
      duration_ms integer not null,
      times integer not null,
      merge_key text unique
    ) strict`,
    'create index requests_by_account on requests (account_id, id) where account_id is not null',
    'create index requests_by_key on requests (key_id, id) where key_id is not null',
    'create index requests_by_request_id on requests (request_id) where request_id is not null',
  ],
  postgres: [
    'alter table api_keys add column replaced_by text',
    'alter table api_keys add column end_before_rotation_ms bigint',
    'alter table accounts add column own_per_minute bigint',
    'alter table accounts add column own_per_day bigint',
    'alter table accounts add column own_until_ms bigint',
    'alter table accounts add column deleted_at_ms bigint',
    `create table limit_resets (
      id bigint generated always as identity primary key,
      account_id bigint not null,
      at_ms bigint not null
    )`,
    `create table requests (
      id bigint generated always as identity primary key,
      at_ms bigint not null,
      last_at_ms bigint not null,
      account_id bigint,
      key_id text,
      address text,
      operation text,
      status bigint not null,
      code text,
      message text,
      request_id text,
      duration_ms bigint not null,
      times bigint not null,
      merge_key text unique
    )`,
    'create index requests_by_account on requests (account_id, id) where account_id is not null',
    'create index requests_by_key on requests (key_id, id) where key_id is not null',
    'create index requests_by_request_id on requests (request_id) where request_id is not null',
    'drop trigger api_keys_changed on api_keys',
    'drop trigger accounts_changed on accounts',
    'drop function tell_account_change()',
  ],
};

/**
 * Adds what the operator's questions need: the successor of a rotated key, limits of one account, the requests that
 * failed, and deleted accounts. On PostgreSQL, no trigger notifies of changed accounts any more.
 */
export function operatorQuestionsMigration(engine: Dialect['engine']): Migration {
  return {
    async up(db: Kysely<Tables>) {
      for (const statement of statements[engine]) await sql.raw(statement).execute(db);
    },
  };
}
