import type { ColumnType, Generated } from 'kysely';

/** The tables as the newest migration leaves them; times are Unix milliseconds. */
export interface Tables {
  pets: {
    id: Generated<bigint>;
    name: string;
    category_id: bigint;
    status: string;
  };
  /** One row: how often an animal was changed or taken away, which no operation does yet. */
  pet_edits: {
    count: bigint;
  };
  accounts: {
    id: Generated<bigint>;
    name: string;
    plan: string;
    per_minute: bigint | null;
    per_day: bigint | null;
    created_at_ms: bigint;
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
  idempotency_records: {
    account_id: bigint;
    key: string;
    body_hash: Uint8Array;
    pet_id: bigint;
    created_at_ms: bigint;
  };
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
