import { AppError } from '../errors.ts';
import { type Scope, scopes } from './account.ts';
import type { KeyRow } from './key-rows.ts';

/** Why a key is refused. `api_key_invalid`: the key is unknown, mistyped, or from another environment. */
export type KeyRefusal = 'api_key_invalid' | 'api_key_expired' | 'api_key_revoked';

/** The state of a key. A rotated key stays valid until its overlap ends. Then it is expired. */
export type KeyState = 'active' | 'rotated' | 'expired' | 'revoked';

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

/** Describes a key for the audit log. */
export function describeKey(row: KeyRow): Record<string, unknown> {
  return { name: row.name, scopes: readScopes(row.scopes), expiresAt: toTime(toMs(row.expires_at_ms)) };
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
