import type { Tables } from '../tables.ts';

/** True if the store assigns the values of a table's column `id`. */
const assignsIds: Readonly<Record<keyof Tables, boolean>> = {
  accounts: true,
  api_keys: false,
  requests: true,
  erasures: false,
  limit_resets: true,
  ban_lifts: true,
  usage_hours: false,
  audit: true,
  pets: true,
  categories: false,
  orders: true,
  event_outbox: true,
  events: true,
  event_horizon: false,
  event_gaps: false,
  inventory_totals: false,
  inventory_by_category: false,
  inventory_changes: true,
  first_answers: false,
  webhooks: true,
  webhook_secrets: true,
  webhook_requests: true,
  webhook_attempts: true,
  leases: false,
  usage_windows: false,
  key_bans: false,
  console_links: false,
  console_sessions: false,
  secrets: false,
};

/**
 * All tables of a store, in the order in which a copy fills them. Referenced tables come first. The triggers of animals,
 * categories and orders write events and inventory during the copy. So the tables of events and inventory come later,
 * and copying these tables replaces the rows that the triggers wrote.
 */
export const copiedTables = Object.keys(assignsIds) as readonly (keyof Tables)[];

/** The tables whose ids the store assigns. */
export const tablesWithIds = copiedTables.filter((name) => assignsIds[name]);

/** Maximum number of rows that each side of a copy has in memory at once. */
export const batchRowsMax = 5_000;
