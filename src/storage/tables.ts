import type { ColumnType, Generated } from 'kysely';

/** A change, written by the trigger of its table. `data` and `previous` are rows as JSON. */
interface Event {
  id: Generated<bigint>;
  at_ms: Generated<bigint>;
  type: string;
  account_id: bigint | null;
  pet_id: bigint | null;
  data: string;
  previous: string | null;
}

/** The number of animals of each status. */
interface Counts {
  available: bigint;
  pending: bigint;
  sold: bigint;
}

/** The tables of the newest schema. Times are Unix milliseconds. */
export interface Tables {
  pets: {
    id: Generated<bigint>;
    name: string;
    category_id: bigint;
    status: string;
    /** 1 while an order owns the animal, else 0. */
    is_owned: bigint;
  };
  categories: {
    id: bigint;
    name: string;
  };
  accounts: {
    id: Generated<bigint>;
    name: string;
    plan: string;
    per_minute: bigint | null;
    per_day: bigint | null;
    /** The most open holds; null for the plan's number. */
    open_holds: ColumnType<bigint | null, bigint | null | undefined>;
    created_at_ms: bigint;
    /** Null unless the account is suspended. */
    suspended_at_ms: ColumnType<bigint | null, undefined, bigint | null>;
  };
  orders: {
    id: Generated<bigint>;
    account_id: bigint;
    pet_id: bigint;
    status: string;
    reference: string | null;
    created_at_ms: bigint;
    expires_at_ms: bigint;
    closed_at_ms: bigint | null;
  };
  api_keys: {
    id: string;
    account_id: bigint;
    secret_hash: Uint8Array;
    visible_start: string;
    scopes: string;
    created_at_ms: bigint;
    expires_at_ms: bigint | null;
    revoked_at_ms: bigint | null;
    last_used_at_ms: bigint | null;
    name: ColumnType<string | null, string | null | undefined>;
  };
  /** Bans that every running service must lift. */
  ban_lifts: {
    id: Generated<bigint>;
    key_id: string;
    account_id: bigint;
    at_ms: bigint;
  };
  /** The requests of each account in each hour. */
  usage_hours: {
    account_id: bigint;
    hour_at_ms: bigint;
    requests: bigint;
    refusals: bigint;
    errors: bigint;
  };
  /** The audit log: who changed what, and when. `before` and `after` are JSON. */
  audit: {
    id: Generated<bigint>;
    at_ms: bigint;
    actor_kind: string;
    actor: string;
    action: string;
    subject: string;
    account_id: bigint | null;
    before: string | null;
    after: string | null;
  };
  /** The first answer to each idempotency key. The key itself is not stored. */
  first_answers: {
    account_id: bigint;
    key_hash: Uint8Array;
    operation: string;
    body_hash: Uint8Array;
    status: bigint;
    /** Relative to the base address. */
    location: string;
    body: string;
    created_at_ms: bigint;
  };
  /** Events that wait for their position. Always empty on SQLite. */
  event_outbox: Event;
  /** Every event, in the order of the feed. */
  events: Event;
  /** One row: the newest deleted event, or 0. All events before it are deleted too. */
  event_horizon: { deleted_to: bigint };
  /** One row for all animals. Changes not yet added are in `inventory_changes`. */
  inventory_totals: Counts;
  inventory_by_category: Counts & { category_id: bigint };
  /** Always empty on SQLite. */
  inventory_changes: Counts & { id: Generated<bigint>; category_id: bigint };
  webhooks: {
    id: Generated<bigint>;
    /** The id that clients see. */
    public_id: string;
    account_id: bigint;
    /** The key that created it. */
    key_id: string;
    url: string;
    /** The types of its events, separated by spaces. */
    types: string;
    /** What the key that created it may read: 1 or 0, and `none`, `own` or `all`. */
    sees_pets: bigint;
    sees_orders: string;
    status: string;
    /** The position of the last event that it received or skipped; 0 before the first. */
    position: bigint;
    /** Incremented by each change that restarts the retries. */
    revision: bigint;
    /** Failed attempts since the last success. */
    failures: bigint;
    failing_since_ms: bigint | null;
    next_attempt_at_ms: bigint;
    last_attempt_at_ms: bigint | null;
    last_result: string | null;
    /** The id of a ping to send. */
    ping_id: string | null;
    created_at_ms: bigint;
  };
  webhook_secrets: {
    id: Generated<bigint>;
    webhook_id: bigint;
    /** Encrypted with the operator's key if there is one (webhooks/secret-box.ts). */
    secret: Uint8Array;
    /** Null for the current secret. */
    ends_at_ms: bigint | null;
  };
  /** Leases of work that one instance does at a time. */
  leases: { name: string; holder: string; until_ms: bigint };
  usage_windows: {
    subject: string;
    minute_used: bigint;
    minute_ends_at_ms: bigint;
    day_used: bigint;
    day_ends_at_ms: bigint;
  };
  key_bans: {
    key_id: string;
    banned_until_ms: bigint;
    last_ban_at_ms: bigint;
    last_ban_ms: bigint;
    refused_at_ms: string;
    forget_at_ms: bigint;
  };
  /** Unused links to the console. A link works once. */
  console_links: {
    token_hash: Uint8Array;
    /** The user who ran the command that created it. */
    made_by: string;
    expires_at_ms: bigint;
  };
  console_sessions: {
    token_hash: Uint8Array;
    /** Its name in the audit log. */
    id: string;
    made_by: string;
    created_at_ms: bigint;
    expires_at_ms: bigint;
  };
  secrets: {
    name: string;
    value: ColumnType<Uint8Array, Uint8Array, never>;
  };
}
