import { OperatorError } from '../errors.ts';
import type { Plan, PlanName } from '../plans/plan.ts';
import { defineWork, step, type Work } from '../storage/database.ts';
import { type Scope, scopes } from './account.ts';
import { selectAnyAccount } from './account-rows.ts';
import { type AccountRow, addAccount, findOrAddAccount } from './add-account.ts';
import { insertApiKey, selectKey, updateKeyRevoked, updateKeyRotated } from './api-key-rows.ts';
import { readScopes, readState } from './key-state.ts';

/** What is stored of a new key's text, and the id that it gets. */
export interface NewKey {
  readonly id: string;
  readonly secretHash: Uint8Array;
  readonly visibleStart: string;
}

/** A key that has been stored. */
export interface StoredKey {
  readonly id: string;
  readonly account: string;
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
  /** Unix milliseconds; null means never. */
  readonly expiresAtMs: number | null;
}

interface IssueKey {
  readonly newKey: NewKey;
  readonly account: string;
  readonly plan: Plan | null;
  readonly scopes: readonly Scope[];
  readonly lifetimeMs: number | null;
  readonly nowMs: number;
}

/** Stores a key of an account, which is made if it is new. */
export const issueKey = defineWork(import.meta.url, 'issueKey', function* (input: IssueKey) {
  const owner = yield* findOrAddAccount(input.account, input.plan, input.nowMs);
  return yield* addKey(input.newKey, owner, input.scopes, input.lifetimeMs, input.nowMs);
});

interface IssueFirstKey {
  readonly newKey: NewKey;
  readonly account: string;
  readonly plan: Plan;
  readonly nowMs: number;
}

/** Stores a key with all scopes in a store without accounts; gives null if there is an account. */
export const issueFirstKey = defineWork(
  import.meta.url,
  'issueFirstKey',
  function* ({ newKey, account, plan, nowMs }: IssueFirstKey): Work<StoredKey | null> {
    const existing = yield* step(selectAnyAccount, { count: 1n });
    if (existing.length > 0) return null;
    return yield* addKey(newKey, yield* addAccount(account, plan, nowMs), scopes, null, nowMs);
  },
);

interface RotateKey {
  readonly newKey: NewKey;
  readonly id: string;
  readonly overlapMs: number;
  readonly nowMs: number;
}

/** Stores the successor of an active key, which ends after the overlap or at its own expiry. */
export const rotateKey = defineWork(
  import.meta.url,
  'rotateKey',
  function* ({ newKey, id, overlapMs, nowMs }: RotateKey) {
    const old = yield* findKey(id);
    const state = readState(old, nowMs);
    if (state !== 'active')
      throw new OperatorError(`the key "${id}" is ${state} already: "keys create" makes another`);
    const expiresAtMs = old.expires_at_ms === null ? null : Number(old.expires_at_ms);
    const endsAtMs = Math.min(nowMs + overlapMs, expiresAtMs ?? Number.POSITIVE_INFINITY);
    yield* step(updateKeyRotated, { id, endsAtMs: BigInt(endsAtMs) });
    const lifetimeMs = expiresAtMs === null ? null : expiresAtMs - Number(old.created_at_ms);
    return yield* addKey(newKey, old, readScopes(old.scopes), lifetimeMs, nowMs);
  },
);

/** Ends a key for good. */
export const revokeKey = defineWork(
  import.meta.url,
  'revokeKey',
  function* ({ id, nowMs }: { readonly id: string; readonly nowMs: number }) {
    yield* findKey(id);
    yield* step(updateKeyRevoked, { id, revokedAtMs: BigInt(nowMs) });
  },
);

function* addKey(
  { id, secretHash, visibleStart }: NewKey,
  account: AccountRow,
  granted: readonly Scope[],
  lifetimeMs: number | null,
  nowMs: number,
): Work<StoredKey> {
  const expiresAtMs = lifetimeMs === null ? null : nowMs + lifetimeMs;
  yield* step(insertApiKey, {
    id,
    accountId: account.id,
    secretHash,
    visibleStart,
    scopes: granted.join(' '),
    createdAtMs: BigInt(nowMs),
    expiresAtMs: expiresAtMs === null ? null : BigInt(expiresAtMs),
  });
  return { id, account: account.name, plan: account.plan as PlanName, scopes: granted, expiresAtMs };
}

function* findKey(id: string) {
  const [row] = yield* step(selectKey, { id });
  if (row === undefined) throw new OperatorError(`there is no key "${id}": "keys list" shows them all`);
  return row;
}
