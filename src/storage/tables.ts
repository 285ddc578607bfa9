import type { ColumnType, Generated } from 'kysely';

/** A change as the trigger of its table writes it. `data` and `previous` are rows as JSON. */
interface Event {
  id: Generated<bigint>;
  at_ms: Generated<bigint>;
  type: string;
  account_id: bigint | null;
  pet_id: bigint | null;
  data: string;
  previous: string | null;
}

/** How many animals there are of each status. */
interface Counts {
  available: bigint;
  pending: bigint;
  sold: bigint;
}

/** The tables as the newest migration leaves them; times are Unix milliseconds. */
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
    /** How many holds may be open at once; null stands for the plan's number. */
    open_holds: ColumnType<bigint | null, bigint | null | undefined>;
    created_at_ms: bigint;
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
  };
  /** What each idempotency key was answered with first; the key itself is not kept. */
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
  /** Events that wait to take their place among `events`. On SQLite there are none. */
  event_outbox: Event;
  /** Every change, in the order of the feed. */
  events: Event;
  /** One row: the newest event that was deleted, or 0; with it all before it are gone. */
  event_horizon: { deleted_to: bigint };
  /** One row, of all animals; what has not been added up yet stands in `inventory_changes`. */
  inventory_totals: Counts;
  inventory_by_category: Counts & { category_id: bigint };
  /** On SQLite there are none. */
  inventory_changes: Counts & { id: Generated<bigint>; category_id: bigint };
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
  secrets: {
    name: string;
    value: ColumnType<Uint8Array, Uint8Array, never>;
  };
}
