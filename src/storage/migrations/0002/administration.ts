import { sql } from 'kysely';
import type { Dialect } from '../../database.ts';
import { columnTypes } from '../column-types.ts';

/**
 * Tables and columns for administration: names of keys, suspended accounts, lifted bans, hourly usage, and the audit
 * log.
 */
export function createAdministration(engine: Dialect['engine']) {
  const types = columnTypes[engine];
  return [
    sql`alter table api_keys add column name text`,
    sql`alter table accounts add column suspended_at_ms ${types.integer}`,
    // With this index, a page of an account's keys costs the same at any depth.
    sql`drop index api_keys_by_account`,
    sql`create index api_keys_by_account on api_keys (account_id, created_at_ms, id)`,
    sql`create table audit (
      id ${types.id},
      at_ms ${types.integer} not null,
      actor_kind text not null check (actor_kind in ('command', 'console', 'key')),
      actor text not null,
      action text not null,
      subject text not null,
      account_id ${types.integer},
      before text,
      after text
    ) ${types.end}`,
    sql`create table ban_lifts (
      id ${types.id},
      key_id text not null,
      account_id ${types.integer} not null,
      at_ms ${types.integer} not null
    ) ${types.end}`,
    ...createUsage(engine),
    sql`create index audit_by_account on audit (account_id, id) where account_id is not null`,
    sql`create index audit_by_action on audit (action, id)`,
  ];
}

function createUsage(engine: Dialect['engine']) {
  const { integer, end } = columnTypes[engine];
  return [
    sql`create table usage_hours (
      account_id ${integer} not null,
      hour_at_ms ${integer} not null,
      requests ${integer} not null,
      refusals ${integer} not null,
      errors ${integer} not null,
      primary key (account_id, hour_at_ms)
    ) ${end}`,
    sql`create index usage_hours_by_age on usage_hours (hour_at_ms)`,
  ];
}
