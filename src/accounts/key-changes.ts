import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { AppError, OperatorError } from '../errors.ts';
import type { Plan } from '../plans/plan.ts';
import { defineTransaction, type Steps, step, stepsTogether, toStep } from '../storage/database.ts';
import { scopes as allScopes, coversScope, type Scope } from './account.ts';
import { addAccount, findOrAddAccount } from './account-changes.ts';
import { selectAnyAccount } from './account-rows.ts';
import {
  countActiveKeys,
  insertApiKey,
  type KeyRow,
  selectKey,
  updateKeyRevoked,
  updateKeyRotated,
} from './key-rows.ts';
import {
  findKeyError,
  isRotated,
  keyError,
  type ListedKey,
  readScopes,
  readState,
  toListedKey,
  toMs,
  toTime,
} from './key-state.ts';
import { keyIdPattern, liveKeysMax } from './schemas.ts';

/** The id of a new key, and the parts of the key's text that are stored. */
export interface NewKey {
  readonly id: string;
  readonly secretHash: Uint8Array;
  readonly visibleStart: string;
}

/** A key to store. Without `lifetimeMs`, it never expires, or together with the key that creates it. */
interface CreateKey {
  readonly newKey: NewKey;
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly lifetimeMs: number | null;
  readonly by: Authorship;
}

/** Stores a key for an operator. Creates the account if it does not exist, and then returns true as `isNewAccount`. */
export const issueKey = defineTransaction(
  'issueKey',
  function* (input: CreateKey & { readonly account: string; readonly plan: Plan | null }) {
    const { newKey, name, scopes, lifetimeMs, by } = input;
    const { accountId, isNew } = yield* findOrAddAccount(input.account, input.plan, by);
    const expiresAtMs = lifetimeMs === null ? null : by.nowMs + lifetimeMs;
    const stored = yield* addKey(newKey, accountId, { name, scopes, expiresAtMs }, by);
    return { ...stored, isNewAccount: isNew };
  },
);

/** Stores a key with all scopes if the store has no account. Otherwise returns null. */
export const issueFirstKey = defineTransaction(
  'issueFirstKey',
  function* (input: Pick<CreateKey, 'newKey' | 'by'> & { readonly account: string; readonly plan: Plan }) {
    const { newKey, account, plan, by } = input;
    const existing = yield* step(selectAnyAccount, { count: 1n });
    if (existing.length > 0) return null;
    const accountId = yield* addAccount(account, plan, by);
    return yield* addKey(newKey, accountId, { name: null, scopes: allScopes, expiresAtMs: null }, by);
  },
);

/**
 * Stores a key for the account of the key that is the actor.
 *
 * - Throws `scope_missing` if the actor lacks a scope of the new key.
 * - Throws `invalid_body` if the new key would expire after the actor.
 * - Throws `limit_reached` if the account has `liveKeysMax` active keys or more.
 */
export const createOwnKey = defineTransaction(
  'createOwnKey',
  function* ({ newKey, name, scopes, lifetimeMs, by }: CreateKey) {
    const caller = yield* findCaller(by);
    requireScopes(caller, scopes);
    const endMs = toMs(caller.expires_at_ms);
    const expiresAtMs = lifetimeMs === null ? endMs : by.nowMs + lifetimeMs;
    if (endMs !== null && expiresAtMs !== null && expiresAtMs > endMs)
      throw new AppError(
        'invalid_body',
        `expiresInSeconds must not exceed the lifetime of the calling key, which expires at ${toTime(endMs)}`,
      );
    const accountId = caller.account_id;
    const [active] = yield* step(countActiveKeys, { accountId, nowMs: BigInt(by.nowMs) });
    if ((active?.count ?? 0n) >= liveKeysMax)
      throw new AppError(
        'limit_reached',
        `this account has ${liveKeysMax} or more active keys; delete a key first`,
      );
    return yield* addKey(newKey, accountId, { name, scopes, expiresAtMs }, by);
  },
);

interface KeyChange {
  readonly id: string;
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
 * For an operator, throws OperatorError if the key does not exist, has ended, or has a successor that was used. If the
 * actor is a key, throws `not_found` or `key_rotated` instead, and `scope_missing` if the key has a scope that the actor
 * lacks. The successor then expires no later than the actor.
 */
export const rotateKey = defineTransaction('rotateKey', function* ({ newKey, id, overlapMs, by }: RotateKey) {
  const { key: old, caller } = yield* findKeyToChange(id, by);
  const isAgain = isRotated(old);
  const end = isAgain ? { expires_at_ms: old.end_before_rotation_ms, revoked_at_ms: null } : old;
  const endMs = toMs(end.expires_at_ms);
  const state = readState(end, by.nowMs);
  if (state === 'expired' || state === 'revoked') throw caller === null ? hasEnded(id, state) : keyNotFound();
  const scopes = readScopes(old.scopes);
  if (caller !== null) requireScopes(caller, scopes);
  if (isAgain) yield* takeBackSuccessor(old, by);
  const overlapEndMs = Math.min(by.nowMs + overlapMs, endMs ?? Number.POSITIVE_INFINITY);
  const hasEndedOverlap = isAgain && Number(old.expires_at_ms) <= by.nowMs;
  const oldEndsAtMs = hasEndedOverlap ? Number(old.expires_at_ms) : overlapEndMs;
  yield* step(updateKeyRotated, {
    id,
    expires_at_ms: BigInt(oldEndsAtMs),
    revoked_at_ms: BigInt(oldEndsAtMs),
    replaced_by: newKey.id,
    end_before_rotation_ms: end.expires_at_ms,
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
  const callerEndMs = caller?.id === id ? endMs : toMs(caller?.expires_at_ms ?? null);
  const grant = { name: old.name, scopes, expiresAtMs: findEarlier(fullEndMs, callerEndMs) };
  return { ...(yield* addKey(newKey, old.account_id, grant, by, id)), oldEndsAtMs };
});

/**
 * Revokes the successor of a key if it was never used. Throws if it was used. The successor of a key that an older
 * release rotated is unknown, so it counts as used.
 */
function* takeBackSuccessor({ id, replaced_by: successorId }: KeyRow, by: Authorship): Steps<void> {
  const [successor] = successorId === null ? [] : yield* step(selectKey, { id: successorId });
  if (successor === undefined || successor.last_used_at_ms !== null || successor.replaced_by !== null) {
    const reason = 'is already rotated, and the key that replaced it was used';
    throw by.actor.kind === 'key'
      ? new AppError('key_rotated', `keyId: this key ${reason}; rotate that key instead`)
      : new OperatorError(`the key "${id}" ${reason}: rotate ${successorId ?? 'that key'} instead`);
  }
  if (readState(successor, by.nowMs) !== 'revoked') yield* endKey(successor, by);
}

/**
 * Revokes a key permanently. For an operator, throws OperatorError if the key does not exist, and does nothing if it is
 * already revoked. If the actor is a key, throws `not_found` in both cases.
 */
export const revokeKey = defineTransaction('revokeKey', function* ({ id, by }: KeyChange): Steps<void> {
  const { key, caller } = yield* findKeyToChange(id, by);
  if (readState(key, by.nowMs) !== 'revoked') yield* endKey(key, by);
  else if (caller !== null) throw keyNotFound();
});

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

function describeKey(row: KeyRow): Record<string, unknown> {
  return { name: row.name, scopes: readScopes(row.scopes), expiresAt: toTime(toMs(row.expires_at_ms)) };
}

/** The name, the scopes and the expiry of a new key. If `expiresAtMs` is null, the key never expires. */
interface Grant {
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly expiresAtMs: number | null;
}

/** Stores a key of an account. If the key replaces another key, `inPlaceOf` is the id of the replaced key. */
function* addKey(
  { id, secretHash, visibleStart }: NewKey,
  accountId: bigint,
  { name, scopes, expiresAtMs }: Grant,
  by: Authorship,
  inPlaceOf?: string,
): Steps<ListedKey> {
  const after = { name, scopes, expiresAt: toTime(expiresAtMs), ...(inPlaceOf && { inPlaceOf }) };
  yield* addAuditEntry(by, { action: 'key.created', subject: id, accountId, before: null, after });
  const [, [row]] = yield* stepsTogether(
    toStep(insertApiKey, {
      id,
      account_id: accountId,
      secret_hash: secretHash,
      visible_start: visibleStart,
      name,
      scopes: scopes.join(' '),
      created_at_ms: BigInt(by.nowMs),
      expires_at_ms: expiresAtMs === null ? null : BigInt(expiresAtMs),
    }),
    toStep(selectKey, { id }),
  );
  if (row === undefined) throw new Error('the database returned no row for a new key');
  return toListedKey(row, by.nowMs);
}

const keyId = new RegExp(keyIdPattern);

/** For a key as the actor, a key of another account is as unknown as one that does not exist. */
function* findKeyToChange(id: string, by: Authorship) {
  const caller = by.actor.kind === 'key' ? yield* findCaller(by) : null;
  // PostgreSQL accepts no text with U+0000.
  const [key] = keyId.test(id) ? yield* step(selectKey, { id }) : [];
  if (key !== undefined && (caller === null || caller.account_id === key.account_id)) return { key, caller };
  throw caller === null
    ? new OperatorError(`there is no key "${id}": "keys list" shows all keys`)
    : keyNotFound();
}

/**
 * Reads the key that is the actor again, inside the transaction. Throws if it has ended, or if its account was suspended,
 * since the request was authenticated.
 */
function* findCaller({ actor, nowMs }: Authorship): Steps<KeyRow> {
  const [row] = yield* step(selectKey, { id: actor.name });
  const error = row === undefined ? keyError('api_key_revoked') : findKeyError(row, nowMs);
  if (row === undefined || error !== null) throw error;
  return row;
}

/** Returns the 404 error for a key id. */
export function keyNotFound(): AppError {
  return new AppError('not_found', 'keyId: there is no key with this identifier');
}

function hasEnded(id: string, state: string): OperatorError {
  return new OperatorError(`the key "${id}" is already ${state}: "keys create" creates a new key`);
}

function requireScopes(caller: KeyRow, asked: readonly Scope[]): void {
  const held = readScopes(caller.scopes);
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
