import type { Tables } from '../tables.ts';

/** What a column is to a copy: an id that the store assigns, part of the key that orders the rows, or just a value. */
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
 * Every table, those that others refer to first. The copying of animals, categories and orders writes events and counts the
 * inventory, so these tables come after, and what the copies hold gives way.
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
  secrets: { name: 'text key', value: 'value' },
};

/** A table as a copy sees it. */
export interface CopiedTable {
  readonly name: keyof Tables;
  readonly columns: readonly string[];
  /** What orders its rows; a text orders by its bytes in UTF-8. */
  readonly key: readonly { readonly column: string; readonly isText: boolean }[];
  /** Whether the store assigns the ids, in the column `id`. */
  readonly assignsIds: boolean;
}

/** All tables of a store, in the order in which they can be filled. */
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
