import type { AppError } from '../errors.ts';
import { accountSuspended, keyError } from './account.ts';

/** When a key ends, in Unix milliseconds. Null: never. */
export interface KeyEnd {
  readonly expires_at_ms: bigint | null;
  readonly revoked_at_ms: bigint | null;
}

/** True if a key was rotated and not revoked. Both columns then have the end of the overlap, also after that end. */
export function isRotated({ expires_at_ms, revoked_at_ms }: KeyEnd): boolean {
  return revoked_at_ms !== null && revoked_at_ms === expires_at_ms;
}

/**
 * Returns the state of a key at `nowMs`. A key expires exactly at `expires_at_ms`, and a rotated key when its overlap
 * ends. A revoked key stays revoked even if the clock is set back.
 */
export function readState(end: KeyEnd, nowMs: number): 'active' | 'rotated' | 'expired' | 'revoked' {
  if (end.revoked_at_ms !== null && !isRotated(end)) return 'revoked';
  if (end.expires_at_ms !== null && end.expires_at_ms <= nowMs) return 'expired';
  return isRotated(end) ? 'rotated' : 'active';
}

/** The end of a key with the suspension of its account. */
export interface KeyRights extends KeyEnd {
  readonly suspended_at_ms: bigint | null;
}

/** Returns the error for a request of a key that is expired, revoked, or of a suspended account. Null if it may go on. */
export function findKeyError(row: KeyRights, nowMs: number): AppError | null {
  const state = readState(row, nowMs);
  if (state === 'expired' || state === 'revoked') return keyError(`api_key_${state}`);
  return row.suspended_at_ms === null ? null : accountSuspended();
}
