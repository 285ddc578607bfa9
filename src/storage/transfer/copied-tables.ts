import type { Tables } from '../tables.ts';

/**
 * The role of a column in a copy:
 * - `id`: an id that the store assigns. It also orders the rows.
 * - `key` and `text key`: part of the key that orders the rows.
 * - `value`: any other column.
 */
type Role = 'id' | 'key' | 'text key' | 'value';

const event = {
  id: 'id',
  at_ms: 'value',
  type: 'value',
  account_id: 'value',
  pet_id: 'value',
  data: 'value',
  previous: 'value',
} as const;
const counts = { available: 'value', pending: 'value', sold: 'value' } as const;

/**
 * Every table. Referenced tables come first. The triggers of animals, categories and orders write events and inventory
 * during the copy. So the tables of events and inventory come later, and copying these tables replaces the rows that
 * the triggers wrote.
 */
const roles: { readonly [T in keyof Tables]: Readonly<Record<keyof Tables[T], Role>> } = {
  accounts: {
    id: 'id',
    name: 'value',
    plan: 'value',
    per_minute: 'value',
    per_day: 'value',
    open_holds: 'value',
    created_at_ms: 'value',
    suspended_at_ms: 'value',
    own_per_minute: 'value',
    own_per_day: 'value',
    own_until_ms: 'value',
    deleted_at_ms: 'value',
  },
  api_keys: {
    id: 'text key',
    account_id: 'value',
    secret_hash: 'value',
    visible_start: 'value',
    scopes: 'value',
    created_at_ms: 'value',
    expires_at_ms: 'value',
    revoked_at_ms: 'value',
    last_used_at_ms: 'value',
    name: 'value',
    replaced_by: 'value',
    end_before_rotation_ms: 'value',
  },
  requests: {
    id: 'id',
    at_ms: 'value',
    last_at_ms: 'value',
    account_id: 'value',
    key_id: 'value',
    address: 'value',
    operation: 'value',
    status: 'value',
    code: 'value',
    message: 'value',
    request_id: 'value',
    duration_ms: 'value',
    times: 'value',
    merge_key: 'value',
  },
  erasures: { account_id: 'key' },
  limit_resets: { id: 'id', account_id: 'value', at_ms: 'value' },
  ban_lifts: { id: 'id', key_id: 'value', account_id: 'value', at_ms: 'value' },
  usage_hours: {
    account_id: 'key',
    hour_at_ms: 'key',
    requests: 'value',
    refusals: 'value',
    errors: 'value',
  },
  audit: {
    id: 'id',
    at_ms: 'value',
    actor_kind: 'value',
    actor: 'value',
    action: 'value',
    subject: 'value',
    account_id: 'value',
    before: 'value',
    after: 'value',
  },
  pets: { id: 'id', name: 'value', category_id: 'value', status: 'value', is_owned: 'value' },
  categories: { id: 'key', name: 'value' },
  orders: {
    id: 'id',
    account_id: 'value',
    pet_id: 'value',
    status: 'value',
    reference: 'value',
    created_at_ms: 'value',
    expires_at_ms: 'value',
    closed_at_ms: 'value',
  },
  event_outbox: event,
  events: event,
  event_horizon: { deleted_to: 'key' },
  event_gaps: { lost_after: 'key', skipped_to: 'value' },
  inventory_totals: { available: 'key', pending: 'value', sold: 'value' },
  inventory_by_category: { category_id: 'key', ...counts },
  inventory_changes: { id: 'id', category_id: 'value', ...counts },
  first_answers: {
    account_id: 'key',
    key_hash: 'key',
    operation: 'value',
    body_hash: 'value',
    status: 'value',
    location: 'value',
    body: 'value',
    created_at_ms: 'value',
  },
  webhooks: {
    id: 'id',
    public_id: 'value',
    account_id: 'value',
    key_id: 'value',
    url: 'value',
    types: 'value',
    sees_pets: 'value',
    sees_orders: 'value',
    status: 'value',
    position: 'value',
    revision: 'value',
    failures: 'value',
    failing_since_ms: 'value',
    next_attempt_at_ms: 'value',
    last_attempt_at_ms: 'value',
    last_result: 'value',
    created_at_ms: 'value',
    disabled_because: 'value',
  },
  webhook_secrets: { id: 'id', webhook_id: 'value', secret: 'value', ends_at_ms: 'value' },
  webhook_requests: { id: 'id', webhook_id: 'value', message_id: 'value', position: 'value' },
  webhook_attempts: {
    id: 'id',
    webhook_id: 'value',
    message_id: 'value',
    at_ms: 'value',
    result: 'value',
    duration_ms: 'value',
  },
  leases: { name: 'text key', holder: 'value', until_ms: 'value' },
  usage_windows: {
    subject: 'text key',
    minute_used: 'value',
    minute_ends_at_ms: 'value',
    day_used: 'value',
    day_ends_at_ms: 'value',
  },
  key_bans: {
    key_id: 'text key',
    banned_until_ms: 'value',
    last_ban_at_ms: 'value',
    last_ban_ms: 'value',
    refused_at_ms: 'value',
    forget_at_ms: 'value',
  },
  console_links: { token_hash: 'key', made_by: 'value', expires_at_ms: 'value' },
  console_sessions: {
    token_hash: 'key',
    id: 'value',
    made_by: 'value',
    created_at_ms: 'value',
    expires_at_ms: 'value',
  },
  secrets: { name: 'text key', value: 'value' },
};

/** A table to copy. */
export interface CopiedTable {
  readonly name: keyof Tables;
  readonly columns: readonly string[];
  /** Columns that order the rows. Text is ordered by its UTF-8 bytes. */
  readonly key: readonly { readonly column: string; readonly isText: boolean }[];
  /** True if the store assigns the values of the column `id`. */
  readonly assignsIds: boolean;
}

/** All tables of a store, in the order in which a copy fills them. */
export const copiedTables: readonly CopiedTable[] = Object.entries(roles).map(([name, columns]) => {
  const entries = Object.entries<Role>(columns);
  return {
    name: name as keyof Tables,
    columns: entries.map(([column]) => column),
    key: entries
      .filter(([, role]) => role !== 'value')
      .map(([column, role]) => ({ column, isText: role === 'text key' })),
    assignsIds: entries.some(([, role]) => role === 'id'),
  };
});
