import { sql } from 'kysely';
import type { Dialect } from '../../database.ts';
import { columnTypes } from '../column-types.ts';

/** Webhooks with their secrets, and leases. A lease ensures that only one instance at a time runs a job. */
export function createWebhooks(engine: Dialect['engine']) {
  const types = columnTypes[engine];
  return [
    sql`create table webhooks (
      id ${types.id},
      public_id text not null unique,
      account_id ${types.integer} not null references accounts (id),
      key_id text not null,
      url text not null,
      types text not null,
      sees_pets ${types.integer} not null,
      sees_orders text not null check (sees_orders in ('none', 'own', 'all')),
      status text not null check (status in ('enabled', 'disabled')),
      position ${types.integer} not null,
      revision ${types.integer} not null,
      failures ${types.integer} not null,
      failing_since_ms ${types.integer},
      next_attempt_at_ms ${types.integer} not null,
      last_attempt_at_ms ${types.integer},
      last_result text,
      ping_id text,
      created_at_ms ${types.integer} not null
    ) ${types.end}`,
    sql`create index webhooks_by_account on webhooks (account_id, id)`,
    sql`create index webhooks_by_key on webhooks (key_id)`,
    sql`create index webhooks_by_status on webhooks (status, id)`,
    // The current secret of a webhook has no `ends_at_ms`. Rotated secrets also sign, until they expire.
    sql`create table webhook_secrets (
      id ${types.id},
      webhook_id ${types.integer} not null references webhooks (id) on delete cascade,
      secret ${types.bytes} not null,
      ends_at_ms ${types.integer}
    ) ${types.end}`,
    sql`create index webhook_secrets_by_webhook on webhook_secrets (webhook_id, id)`,
    sql`create table leases (
      name text primary key,
      holder text not null,
      until_ms ${types.integer} not null
    ) ${types.end}`,
  ];
}
