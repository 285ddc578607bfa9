import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { AppError, OperatorError } from '../errors.ts';
import type { Plan, PlanName } from '../plans/plan.ts';
import { defineTransaction, type Steps, step } from '../storage/database.ts';
import { accountSuspended, scopes as allScopes, coversScope, type Scope } from './account.ts';
import { addAccount, findOrAddAccount, type KeyAccount } from './account-changes.ts';
import { selectAnyAccount } from './account-rows.ts';
import type { ListedKey } from './key-list.ts';
import {
  countActiveKeys,
  insertApiKey,
  type KeyRow,
  selectKey,
  updateKeyRevoked,
  updateKeyRotated,
} from './key-rows.ts';
import { describeKey, isRotated, keyError, readScopes, readState, toMs, toTime } from './key-state.ts';
import { liveKeysMax } from './schemas.ts';

/** The id of a new key, and the parts of the key's text that are stored. */
export interface NewKey {
  readonly id: string;
  readonly secretHash: Uint8Array;
  readonly visibleStart: string;
}

interface IssueKey {
  readonly newKey: NewKey;
  readonly account: string;
  readonly plan: Plan | null;
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly lifetimeMs: number | null;
  readonly by: Authorship;
}

/** Stores a key for an operator. Creates the account if it does not exist, and then returns true as `isNewAccount`. */
export const issueKey = defineTransaction('issueKey', function* (input: IssueKey) {
  const { newKey, name, scopes, lifetimeMs, by } = input;
  const { account, isNew } = yield* findOrAddAccount(input.account, input.plan, by);
  const expiresAtMs = lifetimeMs === null ? null : by.nowMs + lifetimeMs;
  const stored = yield* addKey(newKey, account, { name, scopes, expiresAtMs }, by);
  return { ...stored, isNewAccount: isNew };
});

interface IssueFirstKey {
  readonly newKey: NewKey;
  readonly account: string;
  readonly plan: Plan;
  readonly by: Authorship;
}

/** Stores a key with all scopes if the store has no account. Otherwise returns null. */
export const issueFirstKey = defineTransaction(
  'issueFirstKey',
  function* ({ newKey, account, plan, by }: IssueFirstKey): Steps<ListedKey | null> {
    const existing = yield* step(selectAnyAccount, { count: 1n });
    if (existing.length > 0) return null;
    const added = yield* addAccount(account, plan, by);
    return yield* addKey(newKey, added, { name: null, scopes: allScopes, expiresAtMs: null }, by);
  },
);

interface CreateAccountKey {
  readonly newKey: NewKey;
  readonly callingKeyId: string;
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly lifetimeMs: number | null;
  readonly by: Authorship;
}

/**
 * Stores a key for the account of the calling key.
 *
 * - Throws `scope_missing` if the calling key lacks a scope of the new key.
 * - Throws `invalid_body` if the new key would expire after the calling key.
 * - Throws `limit_reached` if the account has `liveKeysMax` active keys or more.
 */
export const createAccountKey = defineTransaction(
  'createAccountKey',
  function* ({ newKey, callingKeyId, name, scopes, lifetimeMs, by }: CreateAccountKey): Steps<ListedKey> {
    const callingKey = yield* findCallingKey(callingKeyId, by.nowMs);
    requireScopes(callingKey.scopes, scopes);
    const endMs = callingKey.expiresAtMs;
    const expiresAtMs = lifetimeMs === null ? endMs : by.nowMs + lifetimeMs;
    if (endMs !== null && expiresAtMs !== null && expiresAtMs > endMs)
      throw new AppError(
        'invalid_body',
        `expiresInSeconds must not exceed the lifetime of the calling key, which expires at ${toTime(endMs)}`,
      );
    const { account } = callingKey;
    const [active] = yield* step(countActiveKeys, { accountId: account.id, nowMs: BigInt(by.nowMs) });
    if ((active?.count ?? 0n) >= liveKeysMax)
      throw new AppError(
        'limit_reached',
        `this account has ${liveKeysMax} or more active keys; delete a key first`,
      );
    return yield* addKey(newKey, account, { name, scopes, expiresAtMs }, by);
  },
);

/** The change of a key. `callingKeyId` is the key on whose behalf it happens; null for an operator. */
interface KeyChange {
  readonly id: string;
  readonly callingKeyId: string | null;
  readonly by: Authorship;
}

interface RotateKey extends KeyChange {
  readonly newKey: NewKey;
  readonly overlapMs: number;
}

/**
 * Stores the successor of a key, with the full lifetime of the old key, counted from now. The old key expires after the
 * overlap, or at its own expiry if that is earlier. Returns the new expiry of the old key as `oldEndsAtMs`.
 *
 * A key that was rotated before gets a new successor in place of one that was never used, because the answer with its
 * text may have been lost. The new one ends when the old key would have ended without rotation.
 *
 * For an operator, throws OperatorError if the key does not exist, has ended, or has a successor that was used. For a
 * calling key, throws `not_found` or `key_rotated` instead, and `scope_missing` if the key has a scope that the calling
 * key lacks. The successor then expires no later than the calling key.
 */
export const rotateKey = defineTransaction(
  'rotateKey',
  function* ({ newKey, id, callingKeyId, overlapMs, by }: RotateKey) {
    const { key: old, callingKey } = yield* findKeyToChange(id, callingKeyId, by.nowMs);
    const isAgain = isRotated(old);
    const end = isAgain ? { expires_at_ms: old.end_before_rotation_ms, revoked_at_ms: null } : old;
    const endMs = toMs(end.expires_at_ms);
    const state = readState(end, by.nowMs);
    if (state === 'expired' || state === 'revoked')
      throw callingKey === null ? hasEnded(id, state) : keyNotFound();
    const scopes = readScopes(old.scopes);
    if (callingKey !== null) requireScopes(callingKey.scopes, scopes);
    if (isAgain) yield* takeBackSuccessor(id, old.replaced_by, callingKey !== null, by);
    const overlapEndMs = Math.min(by.nowMs + overlapMs, endMs ?? Number.POSITIVE_INFINITY);
    const hasEndedOverlap = isAgain && Number(old.expires_at_ms) <= by.nowMs;
    const oldEndsAtMs = hasEndedOverlap ? Number(old.expires_at_ms) : overlapEndMs;
    yield* step(updateKeyRotated, {
      id,
      endsAtMs: BigInt(oldEndsAtMs),
      replacedBy: newKey.id,
      endBeforeRotationMs: endMs === null ? null : BigInt(endMs),
    });
    yield* addAuditEntry(by, {
      action: 'key.rotated',
      subject: id,
      accountId: old.account_id,
      before: describeKey(old),
      after: { ...describeKey(old), expiresAt: toTime(oldEndsAtMs) },
    });
    const fullEndMs = endMs === null || isAgain ? endMs : by.nowMs + (endMs - Number(old.created_at_ms));
    // A key that rotates itself again ends with its overlap, but its lost successor would have outlived it.
    const callerEndMs = callingKeyId === id ? endMs : (callingKey?.expiresAtMs ?? null);
    const expiresAtMs = findEarlier(fullEndMs, callerEndMs);
    const grant = { name: old.name, scopes, expiresAtMs };
    return { ...(yield* addKey(newKey, toAccount(old), grant, by, id)), oldEndsAtMs };
  },
);

/**
 * Revokes the successor of a key if it was never used. Throws if it was used. The successor of a key that an older
 * release rotated is unknown, so it counts as used.
 */
function* takeBackSuccessor(
  id: string,
  successorId: string | null,
  isForPartner: boolean,
  by: Authorship,
): Steps<void> {
  const [successor] = successorId === null ? [] : yield* step(selectKey, { id: successorId });
  if (successorId === null || successor === undefined || wasUsed(successor)) {
    const reason = 'is already rotated, and the key that replaced it was used';
    throw isForPartner
      ? new AppError('key_rotated', `keyId: this key ${reason}; rotate that key instead`)
      : new OperatorError(`the key "${id}" ${reason}: rotate ${successorId ?? 'that key'} instead`);
  }
  if (readState(successor, by.nowMs) !== 'revoked') yield* endKey(successor, by);
}

/**
 * Revokes a key permanently. For an operator, throws OperatorError if the key does not exist, and does nothing if it is
 * already revoked. For a calling key, throws `not_found` in both cases.
 */
export const revokeKey = defineTransaction(
  'revokeKey',
  function* ({ id, callingKeyId, by }: KeyChange): Steps<void> {
    const { key: old, callingKey } = yield* findKeyToChange(id, callingKeyId, by.nowMs);
    if (readState(old, by.nowMs) === 'revoked') {
      if (callingKey === null) return;
      throw keyNotFound();
    }
    yield* endKey(old, by);
  },
);

function* endKey(row: KeyRow, by: Authorship): Steps<void> {
  yield* step(updateKeyRevoked, { id: row.id, revokedAtMs: BigInt(by.nowMs) });
  yield* addAuditEntry(by, {
    action: 'key.revoked',
    subject: row.id,
    accountId: row.account_id,
    before: describeKey(row),
    after: null,
  });
}

/** The name, the scopes and the expiry of a new key. If `expiresAtMs` is null, the key never expires. */
interface Grant {
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly expiresAtMs: number | null;
}

/** Stores a key of an account. If the key replaces another key, `predecessor` is the id of the replaced key. */
function* addKey(
  newKey: NewKey,
  account: KeyAccount,
  { name, scopes, expiresAtMs }: Grant,
  by: Authorship,
  predecessor: string | null = null,
): Steps<ListedKey> {
  const { id, visibleStart } = newKey;
  yield* step(insertApiKey, {
    id,
    account_id: account.id,
    secret_hash: newKey.secretHash,
    visible_start: visibleStart,
    name,
    scopes: scopes.join(' '),
    created_at_ms: BigInt(by.nowMs),
    expires_at_ms: expiresAtMs === null ? null : BigInt(expiresAtMs),
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
  return {
    id,
    visibleStart,
    name,
    account: account.name,
    plan: account.plan as PlanName,
    state: 'active',
    bannedUntilMs: null,
    scopes,
    createdAtMs: by.nowMs,
    expiresAtMs,
    revokedAtMs: null,
    lastUsedAtMs: null,
  };
}

/** A key of another account gets the same error as an unknown key. */
function* findKeyToChange(id: string, callingKeyId: string | null, nowMs: number) {
  const callingKey = callingKeyId === null ? null : yield* findCallingKey(callingKeyId, nowMs);
  const [key] = yield* step(selectKey, { id });
  if (callingKey === null) {
    if (key === undefined) throw new OperatorError(`there is no key "${id}": "keys list" shows all keys`);
    return { key, callingKey };
  }
  if (key === undefined || key.account_id !== callingKey.account.id) throw keyNotFound();
  return { key, callingKey };
}

/**
 * Reads the calling key again, inside the transaction. Throws if the key has expired, or if the key was revoked or its
 * account was suspended since the request was authenticated.
 */
function* findCallingKey(id: string, nowMs: number) {
  const [row] = yield* step(selectKey, { id });
  if (row === undefined) throw keyError('api_key_revoked');
  const state = readState(row, nowMs);
  if (state === 'expired' || state === 'revoked') throw keyError(`api_key_${state}`);
  if (row.suspended_at_ms !== null) throw accountSuspended();
  return { account: toAccount(row), scopes: readScopes(row.scopes), expiresAtMs: toMs(row.expires_at_ms) };
}

function toAccount(row: { account_id: bigint; account_name: string; plan: string }): KeyAccount {
  return { id: row.account_id, name: row.account_name, plan: row.plan };
}

/** Returns the 404 error for a key id. */
export function keyNotFound(): AppError {
  return new AppError('not_found', 'keyId: there is no key with this identifier');
}

function hasEnded(id: string, state: string): OperatorError {
  return new OperatorError(`the key "${id}" is already ${state}: "keys create" creates a new key`);
}

function wasUsed(key: { last_used_at_ms: bigint | null; replaced_by: string | null }): boolean {
  return key.last_used_at_ms !== null || key.replaced_by !== null;
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
