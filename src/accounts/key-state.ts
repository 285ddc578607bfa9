import { AppError } from '../errors.ts';
import type { PlanName } from '../plans/plan.ts';
import { accountSuspended, type Scope, scopes } from './account.ts';
import type { KeyRow } from './key-rows.ts';
import type { PartnerKey } from './schemas.ts';

/** Why a key is refused. `api_key_invalid`: the key is unknown, mistyped, or from another environment. */
export type KeyRefusal = 'api_key_invalid' | 'api_key_expired' | 'api_key_revoked';

/** The state of a key. A rotated key stays valid until its overlap ends. Then it is expired. */
type KeyState = 'active' | 'rotated' | 'expired' | 'revoked';

/** The columns that define when a key ends. In a rotated key, both columns have the end of the overlap. */
export interface KeyEnd {
  readonly expires_at_ms: bigint | null;
  readonly revoked_at_ms: bigint | null;
}

/**
 * Returns the state of a key at `nowMs`. A key expires exactly at `expires_at_ms`. Equal times of revocation and
 * expiry mark a rotation. A revoked key stays revoked even if the clock is set back.
 */
export function readState(end: KeyEnd, nowMs: number): KeyState {
  const revokedAtMs = readRevocation(end);
  if (revokedAtMs !== null) return 'revoked';
  if (end.expires_at_ms !== null && end.expires_at_ms <= nowMs) return 'expired';
  return end.revoked_at_ms === null ? 'active' : 'rotated';
}

/** True if a key was rotated and not revoked, whether its overlap has ended or not. */
export function isRotated({ expires_at_ms, revoked_at_ms }: KeyEnd): boolean {
  return revoked_at_ms !== null && revoked_at_ms === expires_at_ms;
}

/** Returns when a key was revoked, in Unix milliseconds. Null if the key is not revoked, for example rotated. */
export function readRevocation({ expires_at_ms, revoked_at_ms }: KeyEnd): number | null {
  return revoked_at_ms === null || revoked_at_ms === expires_at_ms ? null : Number(revoked_at_ms);
}

/** Parses stored scopes, separated by spaces, into the order of `scopes`. Ignores unknown names. */
export function readScopes(stored: string): readonly Scope[] {
  const names = stored.split(' ');
  return scopes.filter((scope) => names.includes(scope));
}

/** A key as operators see it. Times are Unix milliseconds. Null means never. */
export type ListedKey = ReturnType<typeof toListedKey>;

/** Converts a row into a key at `nowMs`. */
export function toListedKey(row: KeyRow, nowMs: number) {
  const state = readState(row, nowMs);
  const isValid = state === 'active' || state === 'rotated';
  const isBanned = isValid && (row.banned_until_ms ?? 0n) > nowMs;
  return {
    id: row.id,
    visibleStart: row.visible_start,
    name: row.name,
    account: row.account_name,
    plan: row.plan as PlanName,
    state,
    /** When the ban of a valid key ends. Null if the key is not banned. */
    bannedUntilMs: isBanned ? Number(row.banned_until_ms) : null,
    scopes: readScopes(row.scopes),
    createdAtMs: Number(row.created_at_ms),
    expiresAtMs: toMs(row.expires_at_ms),
    revokedAtMs: readRevocation(row),
    /** Rounded down to the minute. */
    lastUsedAtMs: toMs(row.last_used_at_ms),
  };
}

/** Converts a key that is not revoked into a key as partners see it. */
export function toPartnerKey(key: ListedKey): PartnerKey {
  return {
    id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    expiresAt: toTime(key.expiresAtMs),
    start: key.visibleStart,
    state: key.state === 'revoked' ? 'expired' : key.state,
    createdAt: new Date(key.createdAtMs).toISOString(),
    lastUsedAt: toTime(key.lastUsedAtMs),
  };
}

/** Converts a time of a row. Null stays null. */
export function toMs(ms: bigint | null): number | null {
  return ms === null ? null : Number(ms);
}

/** Formats a time as RFC 3339 in UTC with milliseconds. Null stays null. */
export function toTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** The message of each 401 error. */
export const keyMessages = {
  api_key_missing: 'Authorization: missing API key; send "Authorization: Bearer <API_KEY>"',
  api_key_invalid: 'Authorization: invalid API key',
  api_key_expired: 'Authorization: this API key has expired',
  api_key_revoked: 'Authorization: this API key has been revoked',
} as const;

/** Returns the 401 error for requests without a valid key. */
export function keyError(code: keyof typeof keyMessages): AppError {
  return new AppError(code, keyMessages[code]);
}

/** Returns the error for a request of a key that is expired, revoked, or of a suspended account. Null if it may go on. */
export function findKeyError(row: KeyRow, nowMs: number): AppError | null {
  const state = readState(row, nowMs);
  if (state === 'expired' || state === 'revoked') return keyError(`api_key_${state}`);
  return row.suspended_at_ms === null ? null : accountSuspended();
}
