import { type Actor, type Authorship, commandActor } from '../audit/audit-entry.ts';
import { type Clock, dayMs } from '../clock.ts';
import type { Plan } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import { partnerScopes, type Scope } from './account.ts';
import { generateKey, hashKey, type KeyEnvironment, randomText, visibleStart } from './api-key.ts';
import { issueFirstKey, issueKey, type NewKey, revokeKey, rotateKey } from './key-changes.ts';
import { type ListedKey, listAccountKeys, listAllKeys } from './key-list.ts';
import { selectForeignKeys } from './key-rows.ts';

/** The properties of a new key. */
export interface KeyOrder {
  /** Name of an existing or new account. Null creates an account with a generated name. */
  readonly account: string | null;
  /** Plan of a new account. For an existing account: null, or the plan that the account already has. */
  readonly plan: Plan | null;
  /** Name of the key, for people. Default: null. */
  readonly name?: string | null;
  /** Null means `partnerScopes`. */
  readonly scopes: readonly Scope[] | null;
  /** Lifetime from now. Null: the key never expires. */
  readonly lifetimeMs: number | null;
}

/** A new key with its text. The text is shown only once, because it is not stored. */
export interface IssuedKey extends ListedKey {
  readonly key: string;
}

/** Default overlap of a rotation. One day is enough to roll out the new key (docs/decisions/keys.md). */
export const defaultOverlapMs = dayMs;

/**
 * Manages keys for operators. Each change is one transaction. Throws OperatorError if the change is not possible, for
 * example because the key does not exist.
 */
export type Keyring = ReturnType<typeof createKeyring>;

/** Creates the keyring of a store. The audit log names `actor`. The text of new keys contains `environment`. */
export function createKeyring(
  database: Database,
  clock: Clock,
  environment: KeyEnvironment,
  actor: Actor = commandActor(),
) {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });

  return {
    /** Creates a key, and the account if it does not exist. The key works at once on every running instance. */
    async issue({ account, plan, name = null, scopes, lifetimeMs }: KeyOrder) {
      const { key, newKey } = generateNewKey(environment);
      const stored = await database.transact(issueKey, {
        newKey,
        account: account ?? `account-${randomText(8)}`,
        plan,
        name,
        scopes: scopes ?? partnerScopes,
        lifetimeMs,
        by: byNow(),
      });
      return { ...stored, key };
    },

    /** Creates a key with all scopes if the store has no account. Otherwise returns null. */
    async issueFirst(account: string, plan: Plan): Promise<IssuedKey | null> {
      const { key, newKey } = generateNewKey(environment);
      const stored = await database.transact(issueFirstKey, { newKey, account, plan, by: byNow() });
      return stored && { ...stored, key };
    },

    /**
     * Creates a key with the account, the scopes and the lifetime of an active key. The old key stays valid for
     * `overlapMs`, but not past its own expiry. `oldEndsAtMs` is when it expires.
     */
    async rotate(id: string, overlapMs: number) {
      const { key, newKey } = generateNewKey(environment);
      const rotation = { newKey, id, callingKeyId: null, overlapMs, by: byNow() };
      return { ...(await database.transact(rotateKey, rotation)), key };
    },

    /** Revokes a key permanently. A running service may accept the key for up to `freshMs` (key-verifier.ts). */
    revoke: (id: string) => database.transact(revokeKey, { id, callingKeyId: null, by: byNow() }),

    /** Returns the keys of one or all accounts, oldest first. Throws OperatorError if the account does not exist. */
    list: (account: string | null = null) =>
      account === null ? listAllKeys(database, clock()) : listAccountKeys(database, account, clock()),

    /** Returns the `count` newest keys, the oldest of them first. Throws OperatorError if the account does not exist. */
    listNewest: (account: string, count: number) =>
      listAccountKeys(database, account, clock(), BigInt(count)),

    /** Returns the ids of at most `count` valid keys of other environments. Such keys do not work here. */
    async listForeign(count: number): Promise<string[]> {
      const filter = { pattern: `as_${environment}_%`, nowMs: BigInt(clock()), count: BigInt(count) };
      return (await database.read(selectForeignKeys, filter)).map(({ id }) => id);
    },
  };
}

/** Generates a key: its text, and the parts of the text that are stored. */
export function generateNewKey(environment: KeyEnvironment): {
  readonly key: string;
  readonly newKey: NewKey;
} {
  const key = generateKey(environment);
  const id = `key_${randomText(16)}`;
  return { key, newKey: { id, secretHash: hashKey(key), visibleStart: visibleStart(key) } };
}
