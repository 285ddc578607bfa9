import { type Scope, scopes } from './account.ts';

/** What has become of a key. A rotated one is valid still, until the end of its overlap, and then expired. */
export type KeyState = 'active' | 'rotated' | 'expired' | 'revoked';

/** The columns of a key's row that tell its end; a key that was rotated bears the end of its overlap in both. */
export interface KeyEnd {
  readonly expires_at_ms: bigint | null;
  readonly revoked_at_ms: bigint | null;
}

/**
 * How a key stands at a time. It ends at the very millisecond of its expiry. A revoked key stays so although the clock
 * be set back, so a time of revocation that is the time of expiry, too, can stand for a rotation.
 */
export function readState(end: KeyEnd, nowMs: number): KeyState {
  const revokedAtMs = readRevocation(end);
  if (revokedAtMs !== null) return 'revoked';
  if (end.expires_at_ms !== null && end.expires_at_ms <= nowMs) return 'expired';
  return end.revoked_at_ms === null ? 'active' : 'rotated';
}

/** When a key was revoked, in Unix milliseconds; null if it was not, or had ended already. */
export function readRevocation({ expires_at_ms, revoked_at_ms }: KeyEnd): number | null {
  return revoked_at_ms === null || revoked_at_ms === expires_at_ms ? null : Number(revoked_at_ms);
}

/**
 * The scopes in the text of a stored key, which blanks part, in the order of `scopes`; a name that is none is passed
 * over.
 */
export function readScopes(stored: string): readonly Scope[] {
  const names = stored.split(' ');
  return scopes.filter((scope) => names.includes(scope));
}
