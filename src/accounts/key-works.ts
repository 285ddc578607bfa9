import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { OperatorError } from '../errors.ts';
import type { Plan } from '../plans/plan.ts';
import { defineTransaction, type Steps, step } from '../storage/database.ts';
import { type Scope, scopes } from './account.ts';
import { selectAnyAccount } from './account-rows.ts';
import { addAccount, findOrAddAccount } from './add-account.ts';
import { addKey, endRotatedKey, type NewKey, type StoredKey } from './add-key.ts';
import { selectKey, updateKeyRevoked } from './api-key-rows.ts';
import { describeKey, readScopes, readState } from './key-state.ts';

interface IssueKey {
  readonly newKey: NewKey;
  readonly account: string;
  readonly plan: Plan | null;
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly lifetimeMs: number | null;
  readonly by: Authorship;
}

/** Stores a key. Creates the account if it does not exist, and then returns true as `isNewAccount`. */
export const issueKey = defineTransaction('issueKey', function* (input: IssueKey) {
  const { row, isNew } = yield* findOrAddAccount(input.account, input.plan, input.by);
  const { nowMs } = input.by;
  const expiresAtMs = input.lifetimeMs === null ? null : nowMs + input.lifetimeMs;
  const { newKey, name, scopes: granted } = input;
  const stored = yield* addKey(newKey, row, { name, scopes: granted, expiresAtMs }, input.by);
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
  function* ({ newKey, account, plan, by }: IssueFirstKey): Steps<StoredKey | null> {
    const existing = yield* step(selectAnyAccount, { count: 1n });
    if (existing.length > 0) return null;
    const row = yield* addAccount(account, plan, by);
    return yield* addKey(newKey, row, { name: null, scopes, expiresAtMs: null }, by);
  },
);

interface RotateKey {
  readonly newKey: NewKey;
  readonly id: string;
  readonly overlapMs: number;
  readonly by: Authorship;
}

/**
 * Stores the successor of an active key. The old key expires after the overlap, or at its own expiry if that is
 * earlier. Returns the new expiry of the old key as `oldEndsAtMs`. Throws OperatorError if the key does not exist or
 * is not active.
 */
export const rotateKey = defineTransaction('rotateKey', function* ({ newKey, id, overlapMs, by }: RotateKey) {
  const old = yield* findKey(id);
  const state = readState(old, by.nowMs);
  if (state !== 'active')
    throw new OperatorError(`the key "${id}" is already ${state}: "keys create" creates a new key`);
  const { oldEndsAtMs, expiresAtMs } = yield* endRotatedKey({ ...old, key_id: id }, overlapMs, by);
  const grant = { name: old.key_name, scopes: readScopes(old.scopes), expiresAtMs };
  return { ...(yield* addKey(newKey, old, grant, by, id)), oldEndsAtMs };
});

/** Revokes a key permanently, unless it is already revoked. Throws OperatorError if the key does not exist. */
export const revokeKey = defineTransaction(
  'revokeKey',
  function* ({ id, by }: { readonly id: string; readonly by: Authorship }) {
    const old = yield* findKey(id);
    if (readState(old, by.nowMs) === 'revoked') return;
    yield* step(updateKeyRevoked, { id, revokedAtMs: BigInt(by.nowMs) });
    yield* addAuditEntry(by, {
      action: 'key.revoked',
      subject: id,
      accountId: old.id,
      before: describeKey(old),
      after: null,
    });
  },
);

function* findKey(id: string) {
  const [row] = yield* step(selectKey, { id });
  if (row === undefined) throw new OperatorError(`there is no key "${id}": "keys list" shows all keys`);
  return row;
}
