import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { AppError } from '../errors.ts';
import { defineTransaction, type Steps, step } from '../storage/database.ts';
import { coversScope, type Scope } from './account.ts';
import { countActiveKeys } from './account-key-rows.ts';
import { accountSuspended } from './account-suspended.ts';
import { addKey, endRotatedKey, type NewKey, type StoredKey } from './add-key.ts';
import { selectKey, updateKeyRevoked } from './api-key-rows.ts';
import { endedKey } from './ended-keys.ts';
import { liveKeysMax } from './key.ts';
import { describeKey, readScopes, readState } from './key-state.ts';

interface CreateAccountKey {
  readonly newKey: NewKey;
  readonly callingKeyId: string;
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly lifetimeMs: number | null;
  readonly by: Authorship;
}

/**
 * Creates a key for the account of the calling key.
 *
 * - Throws `scope_missing` if the calling key lacks a scope of the new key.
 * - Throws `invalid_body` if the new key would expire after the calling key.
 * - Throws `limit_reached` if the account has `liveKeysMax` active keys or more.
 */
export const createAccountKey = defineTransaction(
  'createAccountKey',
  function* ({ newKey, callingKeyId, name, scopes, lifetimeMs, by }: CreateAccountKey): Steps<StoredKey> {
    const callingKey = yield* findCallingKey(callingKeyId, by.nowMs);
    requireScopes(callingKey.scopes, scopes);
    const callingKeyEndMs = callingKey.expires_at_ms === null ? null : Number(callingKey.expires_at_ms);
    const expiresAtMs = lifetimeMs === null ? callingKeyEndMs : by.nowMs + lifetimeMs;
    if (callingKeyEndMs !== null && expiresAtMs !== null && expiresAtMs > callingKeyEndMs)
      throw new AppError(
        'invalid_body',
        `expiresInSeconds must not exceed the lifetime of the calling key, which expires at ${new Date(callingKeyEndMs).toISOString()}`,
      );
    const [active] = yield* step(countActiveKeys, { accountId: callingKey.id, nowMs: BigInt(by.nowMs) });
    if ((active?.count ?? 0n) >= liveKeysMax)
      throw new AppError(
        'limit_reached',
        `this account has ${liveKeysMax} or more active keys; delete a key first`,
      );
    return yield* addKey(newKey, callingKey, { name, scopes, expiresAtMs }, by);
  },
);

interface RotateAccountKey {
  readonly newKey: NewKey;
  readonly callingKeyId: string;
  readonly id: string;
  readonly overlapMs: number;
  readonly by: Authorship;
}

/**
 * Creates the successor of an active key in the account of the calling key. The successor expires no later than the
 * calling key.
 *
 * - Throws `not_found` if the account has no active key `id`.
 * - Throws `scope_missing` if the key has a scope that the calling key lacks.
 */
export const rotateAccountKey = defineTransaction(
  'rotateAccountKey',
  function* ({ newKey, callingKeyId, id, overlapMs, by }: RotateAccountKey): Steps<StoredKey> {
    const callingKey = yield* findCallingKey(callingKeyId, by.nowMs);
    const [old] = yield* step(selectKey, { id });
    if (old === undefined || old.id !== callingKey.id || readState(old, by.nowMs) !== 'active')
      throw keyNotFound();
    const scopes = readScopes(old.scopes);
    requireScopes(callingKey.scopes, scopes);
    const { expiresAtMs } = yield* endRotatedKey({ ...old, key_id: id }, overlapMs, by);
    const callingKeyEndMs = callingKey.expires_at_ms === null ? null : Number(callingKey.expires_at_ms);
    const grant = { name: old.key_name, scopes, expiresAtMs: findEarlier(expiresAtMs, callingKeyEndMs) };
    return yield* addKey(newKey, old, grant, by, id);
  },
);

interface RemoveAccountKey {
  readonly callingKeyId: string;
  readonly id: string;
  readonly by: Authorship;
}

/** Revokes a key of the account permanently. Throws `not_found` if the key is unknown or already revoked. */
export const removeAccountKey = defineTransaction(
  'removeAccountKey',
  function* ({ callingKeyId, id, by }: RemoveAccountKey): Steps<void> {
    const callingKey = yield* findCallingKey(callingKeyId, by.nowMs);
    const [old] = yield* step(selectKey, { id });
    if (old === undefined || old.id !== callingKey.id || readState(old, by.nowMs) === 'revoked')
      throw keyNotFound();
    yield* step(updateKeyRevoked, { id, revokedAtMs: BigInt(by.nowMs) });
    const before = describeKey(old);
    yield* addAuditEntry(by, { action: 'key.revoked', subject: id, accountId: old.id, before, after: null });
  },
);

/** Returns the 404 error for a key id. A key of another account gets the same error as an unknown key. */
export function keyNotFound(): AppError {
  return new AppError('not_found', 'keyId: there is no key with this identifier');
}

/**
 * Reads the calling key again, inside the transaction. Throws if the key has expired, or if the key was revoked or its
 * account was suspended since the request was authenticated.
 */
function* findCallingKey(id: string, nowMs: number) {
  const [callingKey] = yield* step(selectKey, { id });
  if (callingKey === undefined) throw endedKey('revoked');
  const state = readState(callingKey, nowMs);
  if (state === 'expired' || state === 'revoked') throw endedKey(state);
  if (callingKey.suspended_at_ms !== null) throw accountSuspended();
  return { ...callingKey, scopes: readScopes(callingKey.scopes) };
}

function requireScopes(held: readonly Scope[], asked: readonly Scope[]): void {
  const missing = asked.filter((scope) => !coversScope(held, scope));
  if (missing.length === 0) return;
  throw new AppError(
    'scope_missing',
    `this API key lacks ${missing.join(', ')}; it can create or rotate only keys whose scopes it has`,
  );
}

/** Null means no expiry. */
function findEarlier(oneMs: number | null, otherMs: number | null): number | null {
  if (oneMs === null || otherMs === null) return oneMs ?? otherMs;
  return Math.min(oneMs, otherMs);
}
