import { type AuditAction, type Authored, type Authorship, addAuditEntry } from '../audit/audit-log.ts';
import { AppError, notFound, OperatorError } from '../errors.ts';
import { toTime } from '../format.ts';
import type { Plan } from '../plans/plan.ts';
import { type Steps, step, together, transaction } from '../storage/database.ts';
import { coversScope, keyError, type Scope } from './account.ts';
import { findOrAddAccount } from './account-changes.ts';
import { hashKey, keyIdPattern, visibleStart } from './api-key.ts';
import {
  countActiveKeys,
  insertApiKey,
  type KeyRow,
  type ListedKey,
  readScopes,
  revokeOneKey,
  selectKey,
  toListedKey,
  updateKeyRotated,
} from './key-rows.ts';
import { findKeyError, isRotated, readState } from './key-state.ts';

const keyNotFound = () => notFound('keyId', 'key');

/** Maximum number of active keys of an account when a partner creates one. Operators may create more. */
export const liveKeysMax = 25;

/** What a new key may do, and how long. */
export interface KeyGrant {
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  /** Lifetime from now. Null: the key expires together with the key that creates it, or never. */
  readonly lifetimeMs: number | null;
}

/** A new key with its text. The text is shown only once, because the store gets only its hash and its visible start. */
export interface IssuedKey extends ListedKey {
  readonly key: string;
}

type CreateKey = Authored & { readonly newKey: Pick<IssuedKey, 'id' | 'key'> };
type IssueKey = CreateKey & KeyGrant & { readonly account: string; readonly plan: Plan | null };

/** Stores a key for an operator. Creates the account if it does not exist, and then returns true as `isNewAccount`. */
export const issueKey = transaction('issueKey', 'serializable', function* (input: IssueKey) {
  const { newKey, account, plan, name, scopes, lifetimeMs, by } = input;
  const { accountId, isNew } = yield* findOrAddAccount(account, plan, by);
  const expires_at_ms = lifetimeMs === null ? null : BigInt(by.nowMs + lifetimeMs);
  const grant = { account_id: accountId, name, scopes: scopes.join(' '), expires_at_ms };
  return { ...(yield* addKey(newKey, grant, by)), isNewAccount: isNew };
});

/**
 * Stores a key for the account of the key that is the actor. Throws `scope_missing` if the actor lacks a scope of the new
 * key, `invalid_body` if the new key would expire after it, and `limit_reached` at `liveKeysMax` active keys.
 */
export const createOwnKey = transaction(
  'createOwnKey',
  'serializable',
  function* (input: CreateKey & KeyGrant) {
    const { newKey, name, scopes, lifetimeMs, by } = input;
    const caller = yield* findCaller(by);
    requireScopes(caller, scopes);
    const endMs = caller.expires_at_ms;
    const expires_at_ms = lifetimeMs === null ? endMs : BigInt(by.nowMs + lifetimeMs);
    if (endMs !== null && expires_at_ms !== null && expires_at_ms > endMs)
      throw new AppError(
        'invalid_body',
        `expiresInSeconds must not exceed the lifetime of the calling key, which expires at ${toTime(endMs)}`,
      );
    const { account_id } = caller;
    yield* requireRoom(account_id, by);
    return yield* addKey(newKey, { account_id, name, scopes: scopes.join(' '), expires_at_ms }, by);
  },
);

type ChangeKey = Authored & { readonly id: string };
type RotateKey = CreateKey & ChangeKey & { readonly overlapMs: number };

/**
 * Stores the successor of a key, with the full lifetime of the old key, counted from now. The old key expires after the
 * overlap, or at its own expiry if that is earlier: `oldEndsAtMs`. A key that was rotated before gets a new successor in
 * place of one that was never used, which ends when the old key would have ended without rotation.
 *
 * Throws OperatorError if the key does not exist, has ended, or has a successor that was used. If the actor is a key,
 * throws `not_found` or `key_rotated` instead, `scope_missing`, or `limit_reached` if there are `liveKeysMax` active keys and
 * the successor before was deleted or has expired. The successor expires no later than the actor.
 */
export const rotateKey = transaction(
  'rotateKey',
  'serializable',
  function* ({ newKey, id, overlapMs, by }: RotateKey) {
    const { key: old, caller } = yield* findKeyToChange(id, by);
    const isAgain = isRotated(old);
    const endMs = isAgain ? old.end_before_rotation_ms : old.expires_at_ms;
    const before = { expires_at_ms: endMs, revoked_at_ms: isAgain ? null : old.revoked_at_ms };
    const state = readState(before, by.nowMs);
    if (state !== 'active')
      throw refuse(by, keyNotFound(), `the key "${id}" is already ${state}: "keys create" creates a new key`);
    if (caller !== null) requireScopes(caller, readScopes(old.scopes));
    // A successor that was deleted or has expired may have left its place to another key.
    const hasPlace = !isAgain || (yield* takeBackSuccessor(old, by));
    if (caller !== null && !hasPlace) yield* requireRoom(old.account_id, by);
    // An overlap that has ended stays ended.
    const isOver = isAgain && readState(old, by.nowMs) === 'expired';
    const oldEndMs = isOver ? old.expires_at_ms : findEarlier(BigInt(by.nowMs + overlapMs), endMs);
    const end = { expires_at_ms: oldEndMs, revoked_at_ms: oldEndMs };
    yield* step(updateKeyRotated, { id, ...end, replaced_by: newKey.id, end_before_rotation_ms: endMs });
    yield* addKeyEntry(by, 'key.rotated', old, describe(old), describe({ ...old, ...end }));
    const fullEndMs = endMs === null || isAgain ? endMs : BigInt(by.nowMs) + endMs - old.created_at_ms;
    // A key that rotates itself again ends with its overlap, but its lost successor would have outlived it.
    const callerEndMs = caller?.id === id ? endMs : (caller?.expires_at_ms ?? null);
    const grant = { ...old, expires_at_ms: findEarlier(fullEndMs, callerEndMs) };
    return { ...(yield* addKey(newKey, grant, by, id)), oldEndsAtMs: Number(oldEndMs) };
  },
);

/** True if the successor was active until now. Throws if it was used, or if an older release rotated the key. */
function* takeBackSuccessor({ id, replaced_by: successorId }: KeyRow, by: Authorship): Steps<boolean> {
  const [successor] = successorId === null ? [] : yield* step(selectKey, { id: successorId });
  if (successor === undefined || successor.last_used_at_ms !== null || successor.replaced_by !== null) {
    const reason = 'is already rotated, and the key that replaced it was used';
    const error = new AppError('key_rotated', `keyId: this key ${reason}; rotate that key instead`);
    throw refuse(by, error, `the key "${id}" ${reason}: rotate ${successorId ?? 'that key'} instead`);
  }
  const state = readState(successor, by.nowMs);
  if (state !== 'revoked') yield* endKey(successor, by);
  return state === 'active';
}

function* requireRoom(accountId: bigint, { nowMs }: Authorship): Steps<void> {
  const [active] = yield* step(countActiveKeys, { accountId, nowMs: BigInt(nowMs) });
  if ((active?.count ?? 0n) < liveKeysMax) return;
  throw new AppError(
    'limit_reached',
    `this account has ${liveKeysMax} or more active keys; delete a key first`,
  );
}

/**
 * Revokes a key for good. Throws OperatorError if the key does not exist, and does nothing if it is already revoked. If the
 * actor is a key, throws `not_found` in both cases.
 */
export const revokeKey = transaction(
  'revokeKey',
  'serializable',
  function* ({ id, by }: ChangeKey): Steps<void> {
    const { key, caller } = yield* findKeyToChange(id, by);
    if (readState(key, by.nowMs) !== 'revoked') yield* endKey(key, by);
    else if (caller !== null) throw keyNotFound();
  },
);

function* endKey(key: KeyRow, by: Authorship): Steps<void> {
  yield* step(revokeOneKey, { id: key.id, nowMs: BigInt(by.nowMs) });
  yield* addKeyEntry(by, 'key.revoked', key, describe(key), null);
}

type StoredGrant = Pick<KeyRow, 'account_id' | 'name' | 'scopes' | 'expires_at_ms'>;

/** `inPlaceOf` is the id of the key that the new one replaces. */
function* addKey(
  { id, key }: CreateKey['newKey'],
  { account_id, name, scopes, expires_at_ms }: StoredGrant,
  by: Authorship,
  inPlaceOf?: string,
): Steps<IssuedKey> {
  const row = { id, account_id, name, scopes, expires_at_ms, created_at_ms: BigInt(by.nowMs) };
  yield* addKeyEntry(by, 'key.created', row, null, { ...describe(row), ...(inPlaceOf && { inPlaceOf }) });
  const [, [stored]] = yield* together(
    step(insertApiKey, { ...row, secret_hash: hashKey(key), visible_start: visibleStart(key) }),
    step(selectKey, { id }),
  );
  if (stored === undefined) throw new Error('the database returned no row for a new key');
  return { ...toListedKey(stored, by.nowMs), key };
}

function addKeyEntry(
  by: Authorship,
  action: AuditAction,
  { id: subject, account_id: accountId }: Pick<KeyRow, 'id' | 'account_id'>,
  before: Record<string, unknown> | null,
  after: Record<string, unknown> | null,
): Steps<void> {
  return addAuditEntry(by, action, subject, { accountId, before, after });
}

function describe({ name, scopes, expires_at_ms }: StoredGrant): Record<string, unknown> {
  return { name, scopes: readScopes(scopes), expiresAt: toTime(expires_at_ms) };
}

const keyId = new RegExp(keyIdPattern);

/** For a key as the actor, a key of another account is as unknown as one that does not exist. */
function* findKeyToChange(id: string, by: Authorship) {
  const caller = by.actor.kind === 'key' ? yield* findCaller(by) : null;
  // PostgreSQL accepts no text with U+0000.
  const [key] = keyId.test(id) ? yield* step(selectKey, { id }) : [];
  if (key !== undefined && (caller === null || caller.account_id === key.account_id)) return { key, caller };
  throw refuse(by, keyNotFound(), `there is no key "${id}": "keys list" shows all keys`);
}

/** Returns `error` if the actor is a key, otherwise an OperatorError. */
function refuse({ actor }: Authorship, error: AppError, message: string): Error {
  return actor.kind === 'key' ? error : new OperatorError(message);
}

/** Reads the actor again. Throws if it has ended, or its account was suspended, since the request was authenticated. */
function* findCaller({ actor, nowMs }: Authorship): Steps<KeyRow> {
  const [row] = yield* step(selectKey, { id: actor.name });
  const error = row === undefined ? keyError('api_key_revoked') : findKeyError(row, nowMs);
  if (row === undefined || error !== null) throw error;
  return row;
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
function findEarlier(one: bigint | null, other: bigint | null): bigint | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
