import type { ColumnType, Generated } from 'kysely';

/** A change of a row. `data` is the row after it, or the deleted row, and `previous` the row before an update. */
interface Event {
  id: Generated<bigint>;
  at_ms: Generated<bigint>;
  type: string;
  account_id: bigint | null;
  pet_id: bigint | null;
  data: string;
  previous: string | null;
}

interface Correction {
  id: Generated<bigint>;
  account_id: bigint;
  at_ms: bigint;
}

interface Counts {
  available: bigint;
  pending: bigint;
  sold: bigint;
}

/** The key of a table that has one row, always 1. */
interface OneRow {
  only_row: Generated<bigint>;
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
    /** If null, the plan's number applies. */
    open_holds: ColumnType<bigint | null, bigint | null | undefined>;
    created_at_ms: bigint;
    suspended_at_ms: ColumnType<bigint | null, undefined, bigint | null>;
    /** Limits of this account alone. Null: the limits of its plan apply. */
    own_per_minute: ColumnType<bigint | null, undefined, bigint | null>;
    own_per_day: ColumnType<bigint | null, undefined, bigint | null>;
    /** Null: they do not end. */
    own_until_ms: ColumnType<bigint | null, undefined, bigint | null>;
    deleted_at_ms: ColumnType<bigint | null, undefined, bigint | null>;
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
    /** The id of the key that replaced this key in its last rotation. */
    replaced_by: ColumnType<string | null, undefined, string | null>;
    /** The expiry of a rotated key before its first rotation. */
    end_before_rotation_ms: ColumnType<bigint | null, undefined, bigint | null>;
  };
  /** The requests that failed or were slow. A row with a `merge_key` stands for several requests. */
  requests: {
    id: Generated<bigint>;
    at_ms: bigint;
    last_at_ms: bigint;
    account_id: bigint | null;
    key_id: string | null;
    address: string | null;
    operation: string | null;
    /** The kind and the id of the object that the request named: `animal 7`. */
    subject: string | null;
    status: bigint;
    code: string | null;
    message: string | null;
    request_id: string | null;
    duration_ms: bigint;
    times: bigint;
    merge_key: string | null;
  };
  /** How many requests without a valid key of an address were refused in a minute, over all instances. */
  strangers: { minute_at_ms: bigint; address: string; refusals: bigint };
  /** Deleted accounts whose data is not completely erased yet. */
  erasures: { account_id: bigint };
  /** Every running instance applies these resets of windows and lifts of bans to its counters. */
  limit_resets: Correction;
  ban_lifts: Correction & { key_id: string };
  usage_hours: {
    account_id: bigint;
    hour_at_ms: bigint;
    requests: bigint;
    refusals: bigint;
    errors: bigint;
  };
  /** The sums of `usage_hours`, which a trigger adds up. They are kept longer. */
  usage_days: {
    account_id: bigint;
    day_at_ms: bigint;
    requests: bigint;
    refusals: bigint;
    errors: bigint;
  };
  /** `before` and `after` are JSON. */
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
  first_answers: {
    account_id: bigint;
    key_hash: Uint8Array;
    operation: string;
    body_hash: Uint8Array;
    status: bigint;
    /** The `Location` header, relative to the base address. */
    location: string;
    body: string;
    created_at_ms: bigint;
  };
  /** Events that have no position in the feed yet. On SQLite, only a move from PostgreSQL adds rows. */
  event_outbox: Event;
  events: Event;
  /** One row with the position of the newest deleted event, or 0. All older events are deleted too. */
  event_horizon: { deleted_to: bigint } & OneRow;
  /**
   * A row for each server that took over from another one. Another server may have given the positions after
   * `lost_after` and before `skipped_to`. Events of this server come after `skipped_to`.
   */
  event_gaps: { lost_after: bigint; skipped_to: bigint };
  /** One row for all animals. It does not include the changes that are still in `inventory_changes`. */
  inventory_totals: Counts & OneRow;
  inventory_by_category: Counts & { category_id: bigint };
  /** Changes that are not added to the totals yet. On SQLite, only a move from PostgreSQL adds rows. */
  inventory_changes: Counts & { id: Generated<bigint>; category_id: bigint };
  webhooks: {
    id: Generated<bigint>;
    public_id: string;
    account_id: bigint;
    key_id: string;
    url: string;
    /** Event types, separated by spaces. */
    types: string;
    /** 1 if the webhook receives events of animals, else 0. */
    sees_pets: bigint;
    /** `none`, `own` or `all`. */
    sees_orders: string;
    status: string;
    /** The position of the last event that was delivered or skipped. 0 before the first event. */
    position: bigint;
    /** Grows with each change that restarts the retries. */
    revision: bigint;
    failures: bigint;
    failing_since_ms: bigint | null;
    next_attempt_at_ms: bigint;
    last_attempt_at_ms: bigint | null;
    last_result: string | null;
    created_at_ms: bigint;
    /** `owner`, `operator`, `gone`, `failing` or `restored`. Null while the webhook is enabled. */
    disabled_because: string | null;
  };
  /** Messages that the owner of a webhook has requested beside the feed. */
  webhook_requests: {
    id: Generated<bigint>;
    webhook_id: bigint;
    /** The `webhook-id` of the message: the id of the event or of the ping. */
    message_id: string;
    /** The position of the event, or 0 for a ping. */
    position: bigint;
  };
  webhook_attempts: {
    id: Generated<bigint>;
    webhook_id: bigint;
    message_id: string;
    /** The end of the attempt, by the clock of the store. */
    at_ms: bigint;
    /** The HTTP status, or why there was no response. */
    result: string;
    duration_ms: bigint;
    /** 1 for the first attempt of its event. Null in a row of 1.2.0, as `is_manual`. */
    attempt: ColumnType<bigint | null, bigint | undefined, never>;
    /** 1 if a request or an operator asked for it, 0 if the service sent it by itself. */
    is_manual: ColumnType<bigint | null, bigint | undefined, never>;
    /** The start of the answer as UTF-8: bytes, because no text of PostgreSQL has U+0000. Null if it may not be shown. */
    answer_start: ColumnType<Uint8Array | null, Uint8Array | null | undefined, never>;
  };
  webhook_secrets: {
    id: Generated<bigint>;
    webhook_id: bigint;
    /** Encrypted if WEBHOOK_SECRET_KEY is set (webhooks/secrets.ts). */
    secret: Uint8Array;
    /** Expiry of a rotated secret. Null for the current secret. */
    ends_at_ms: bigint | null;
  };
  /** By the SHA-256 of the file in hexadecimal digits. */
  imported_files: { sha256: string; at_ms: bigint };
  /** Of the jobs that only one instance may run at a time. */
  leases: { name: string; holder: string; until_ms: bigint };
  /** The instances that run, on PostgreSQL. By the clock of the store, `seen_at_ms` is when the instance last wrote its row. */
  instances: { id: string; host: string; version: string; started_at_ms: bigint; seen_at_ms: bigint };
  /** At most one row: the last change of the log at run time. Null: as in the settings of the instance. */
  log_change: { name: string; id: string; level: string | null; requests: string | null };
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
  operators: { name: string; role: string; created_at_ms: bigint };
  console_links: {
    token_hash: Uint8Array;
    /** The name for which the link was made. */
    made_by: string;
    operator: string | null;
    expires_at_ms: bigint;
  };
  console_sessions: {
    token_hash: Uint8Array;
    /** The name of the session in the audit log. */
    id: string;
    made_by: string;
    /** Null for a person who has the shell of the service and is not an operator. */
    operator: string | null;
    /** `session`: of the console. `token`: of the operator's API. */
    kind: Generated<string>;
    created_at_ms: bigint;
    expires_at_ms: bigint;
  };
  secrets: {
    name: string;
    value: ColumnType<Uint8Array, Uint8Array, never>;
  };
}
