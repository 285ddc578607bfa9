import type { Tables } from '../tables.ts';

/** The order of a table's rows in a copy. */
interface Order {
  readonly key: readonly string[];
  /** True if the key is text. Text is ordered by its UTF-8 bytes. */
  readonly isText: boolean;
  /** True if the store assigns the values of the column `id`. */
  readonly assignsIds: boolean;
}

const assigned: Order = { key: ['id'], isText: false, assignsIds: true };
const byText = (column: string): Order => ({ key: [column], isText: true, assignsIds: false });
const by = (...key: readonly string[]): Order => ({ key, isText: false, assignsIds: false });

/**
 * Every table. Referenced tables come first. The triggers of animals, categories and orders write events and inventory
 * during the copy. So the tables of events and inventory come later, and copying these tables replaces the rows that
 * the triggers wrote.
 */
const orders: Readonly<Record<keyof Tables, Order>> = {
  accounts: assigned,
  api_keys: byText('id'),
  requests: assigned,
  erasures: by('account_id'),
  limit_resets: assigned,
  ban_lifts: assigned,
  usage_hours: by('account_id', 'hour_at_ms'),
  audit: assigned,
  pets: assigned,
  categories: by('id'),
  orders: assigned,
  event_outbox: assigned,
  events: assigned,
  event_horizon: by('deleted_to'),
  event_gaps: by('lost_after'),
  inventory_totals: by('available'),
  inventory_by_category: by('category_id'),
  inventory_changes: assigned,
  first_answers: by('account_id', 'key_hash'),
  webhooks: assigned,
  webhook_secrets: assigned,
  webhook_requests: assigned,
  webhook_attempts: assigned,
  leases: byText('name'),
  usage_windows: byText('subject'),
  key_bans: byText('key_id'),
  console_links: by('token_hash'),
  console_sessions: by('token_hash'),
  secrets: byText('name'),
};

/** A table to copy. */
export interface CopiedTable extends Order {
  readonly name: keyof Tables;
}

/** All tables of a store, in the order in which a copy fills them. */
export const copiedTables = Object.entries(orders).map(([name, order]) => ({
  name,
  ...order,
})) as readonly CopiedTable[];

/** Maximum number of rows that each side of a copy has in memory at once. */
export const batchRowsMax = 5_000;
