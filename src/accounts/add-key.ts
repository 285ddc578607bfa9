import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import type { PlanName } from '../plans/plan.ts';
import { type Steps, step } from '../storage/database.ts';
import type { Scope } from './account.ts';
import type { AccountRow } from './add-account.ts';
import { insertApiKey, updateKeyRotated } from './api-key-rows.ts';
import { describeKey, toTime } from './key-state.ts';

/** The id of a new key, and the parts of the key's text that are stored. */
export interface NewKey {
  readonly id: string;
  readonly secretHash: Uint8Array;
  readonly visibleStart: string;
}

/** A key after it was stored, without its text. */
export interface StoredKey {
  readonly id: string;
  readonly name: string | null;
  readonly account: string;
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
  /** Unix milliseconds; null if the key never expires. */
  readonly expiresAtMs: number | null;
}

/** The name, the scopes and the expiry of a new key. If `expiresAtMs` is null, the key never expires. */
export interface Grant {
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly expiresAtMs: number | null;
}

/** Stores a key of an account. If the key replaces another key, `predecessor` is the id of the replaced key. */
export function* addKey(
  { id, secretHash, visibleStart }: NewKey,
  account: AccountRow,
  { name, scopes, expiresAtMs }: Grant,
  by: Authorship,
  predecessor: string | null = null,
): Steps<StoredKey> {
  yield* step(insertApiKey, {
    id,
    accountId: account.id,
    secretHash,
    visibleStart,
    name,
    scopes: scopes.join(' '),
    createdAtMs: BigInt(by.nowMs),
    expiresAtMs: expiresAtMs === null ? null : BigInt(expiresAtMs),
  });
  yield* addAuditEntry(by, {
    action: 'key.created',
    subject: id,
    accountId: account.id,
    before: null,
    after: {
      name,
      scopes,
      expiresAt: toTime(expiresAtMs),
      ...(predecessor !== null && { inPlaceOf: predecessor }),
    },
  });
  return { id, name, account: account.name, plan: account.plan as PlanName, scopes, expiresAtMs };
}

/** The active key that is being rotated. */
interface RotatedKey {
  readonly key_id: string;
  /** The id of the account. */
  readonly id: bigint;
  readonly key_name: string | null;
  readonly scopes: string;
  readonly created_at_ms: bigint;
  readonly expires_at_ms: bigint | null;
}

/**
 * Makes the rotated key expire after the overlap, or at its own expiry if that is earlier.
 *
 * Returns the new expiry of the rotated key as `oldEndsAtMs`, and the expiry of the successor as `expiresAtMs`. The
 * successor gets the full lifetime of the rotated key, counted from now.
 */
export function* endRotatedKey(
  old: RotatedKey,
  overlapMs: number,
  by: Authorship,
): Steps<{ readonly oldEndsAtMs: number; readonly expiresAtMs: number | null }> {
  const expiresAtMs = old.expires_at_ms === null ? null : Number(old.expires_at_ms);
  const oldEndsAtMs = Math.min(by.nowMs + overlapMs, expiresAtMs ?? Number.POSITIVE_INFINITY);
  yield* step(updateKeyRotated, { id: old.key_id, endsAtMs: BigInt(oldEndsAtMs) });
  yield* addAuditEntry(by, {
    action: 'key.rotated',
    subject: old.key_id,
    accountId: old.id,
    before: describeKey(old),
    after: { ...describeKey(old), expiresAt: toTime(oldEndsAtMs) },
  });
  const lifetimeMs = expiresAtMs === null ? null : expiresAtMs - Number(old.created_at_ms);
  return { oldEndsAtMs, expiresAtMs: lifetimeMs === null ? null : by.nowMs + lifetimeMs };
}
