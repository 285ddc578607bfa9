import { assignsIds, copiedTables } from '../transfer/copy-tables.ts';

/** The tables of the newest schema. `server_timeline` belongs to one server, so no move copies it. */
export const tables: readonly string[] = [...copiedTables, 'server_timeline'];

/** Tables whose column `id` gets its values from a sequence. */
export const tablesWithIds = copiedTables.filter((name) => assignsIds[name]);

/** Tables of the newest schema that have exactly one row. */
export const tablesOfOneRow = ['event_horizon', 'inventory_totals', 'server_timeline'];

/**
 * What a restore creates after the rows: the indexes, with those of the keys, the foreign keys and the triggers of the
 * newest schema. A test compares them with a migrated store.
 */
export const parts = {
  index: [
    ...tables.map((table) => `${table}_pkey`),
    ...`
      accounts_by_name accounts_name_key api_keys_by_account api_keys_not_ended api_keys_not_revoked
      api_keys_secret_hash_key audit_by_account audit_by_action console_sessions_id_key events_by_account_and_type
      events_by_type events_of_account events_of_orders first_answers_by_age inventory_changes_by_category
      key_bans_by_end orders_by_account orders_by_account_and_pet orders_by_account_and_reference orders_by_expiry
      orders_by_pet orders_by_reference orders_by_status orders_owning pets_available_by_category pets_available_by_id pets_pending_by_category pets_pending_by_id
      pets_sold_by_category pets_sold_by_id requests_by_account requests_by_key requests_by_request_id
      requests_merge_key_key usage_hours_by_age usage_windows_by_end webhook_attempts_by_webhook
      webhook_requests_by_position webhook_secrets_by_webhook webhooks_behind webhooks_by_account webhooks_by_key
      webhooks_by_status webhooks_failing webhooks_public_id_key`
      .trim()
      .split(/\s+/),
  ],
  'foreign key': [
    'api_keys_account_id_fkey',
    'erasures_account_id_fkey',
    'first_answers_account_id_fkey',
    'orders_account_id_fkey',
    'webhook_attempts_webhook_id_fkey',
    'webhook_requests_webhook_id_fkey',
    'webhook_secrets_webhook_id_fkey',
    'webhooks_account_id_fkey',
  ],
  trigger: [
    'append_categories_added on categories',
    'append_categories_deleted on categories',
    'append_categories_updated on categories',
    'append_orders_added on orders',
    'append_orders_updated on orders',
    'append_pets_added on pets',
    'append_pets_deleted on pets',
    'append_pets_updated on pets',
    'pets_of_older_releases on pets',
    ...['accounts', 'audit', 'ban_lifts', 'events', 'limit_resets', 'orders', 'pets', 'webhooks'].map(
      (table) => `skip_lost_ids on ${table}`,
    ),
  ],
} as const;
