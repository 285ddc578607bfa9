import { type Clock, dayMs } from '../clock.ts';
import type { Plan, PlanName } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import { partnerScopes, type Scope } from './account.ts';
import { generateKey, hashKey, type KeyEnvironment, randomText, visibleStart } from './api-key.ts';
import { selectForeignKeys, selectKeys } from './api-key-rows.ts';
import { type KeyState, readRevocation, readScopes, readState } from './key-state.ts';
import { issueFirstKey, issueKey, type NewKey, revokeKey, rotateKey, type StoredKey } from './key-works.ts';

/** What a key is to be made with. */
export interface KeyOrder {
  /** The account's name, of one that is there or of a new one; null makes a new one with a name of its own. */
  readonly account: string | null;
  /** The plan of a new account. For an account that is there null, or the plan that it is on. */
  readonly plan: Plan | null;
  /** What the key may do; null means what a partner needs. */
  readonly scopes: readonly Scope[] | null;
  /** How long the key is valid from now; null means until it is revoked. */
  readonly lifetimeMs: number | null;
}

/** A key that has just been made: the only time that its text is to be had. */
export interface IssuedKey extends StoredKey {
  readonly key: string;
}

/** A key as an operator sees it; times are Unix milliseconds, null means never. */
export interface ListedKey {
  readonly id: string;
  readonly visibleStart: string;
  readonly account: string;
  readonly plan: PlanName;
  readonly state: KeyState;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** To the minute. */
  readonly lastUsedAtMs: number | null;
}

/** The overlap of a rotation for which none is named: long enough to roll the new key out (docs/decisions/keys.md). */
export const defaultOverlapMs = dayMs;

/**
 * The life of keys, for operators. Each method is one transaction, so that orders which come at once are carried out
 * one after the other, and throws OperatorError where its order cannot be.
 */
export interface Keyring {
  /** Makes a key, and its account where it is new. Works at once on every running instance. */
  issue(order: KeyOrder): Promise<IssuedKey>;
  /** Makes a key for a store without any account; null where there is one already. */
  issueFirst(account: string, plan: Plan): Promise<IssuedKey | null>;
  /**
   * Makes a key with the account, the scopes and the lifetime of an active one, which stays valid for `overlapMs` more,
   * never past its own expiry.
   */
  rotate(id: string, overlapMs: number): Promise<IssuedKey>;
  /** Ends a key for good, within the time that a running service may remember it (key-verifier.ts). */
  revoke(id: string): Promise<void>;
  /** All keys, in the order in which they were made. */
  list(): Promise<ListedKey[]>;
  /** The ids of valid keys of other environments, which do not work here: at most `count`. */
  listForeign(count: number): Promise<string[]>;
}

/** The keyring of a store; its new keys bear `environment` in their text. */
export function createKeyring(database: Database, clock: Clock, environment: KeyEnvironment): Keyring {
  function generate(): { readonly key: string; readonly newKey: NewKey } {
    const key = generateKey(environment);
    const id = `key_${randomText(16)}`;
    return { key, newKey: { id, secretHash: hashKey(key), visibleStart: visibleStart(key) } };
  }

  return {
    async issue({ account, plan, scopes: granted, lifetimeMs }) {
      const { key, newKey } = generate();
      const stored = await database.transact(issueKey, {
        newKey,
        account: account ?? `account-${randomText(8)}`,
        plan,
        scopes: granted ?? partnerScopes,
        lifetimeMs,
        nowMs: clock(),
      });
      return { ...stored, key };
    },

    async issueFirst(account, plan) {
      const { key, newKey } = generate();
      const stored = await database.transact(issueFirstKey, { newKey, account, plan, nowMs: clock() });
      return stored && { ...stored, key };
    },

    async rotate(id, overlapMs) {
      const { key, newKey } = generate();
      const stored = await database.transact(rotateKey, { newKey, id, overlapMs, nowMs: clock() });
      return { ...stored, key };
    },

    async revoke(id) {
      await database.transact(revokeKey, { id, nowMs: clock() });
    },

    list: () => listKeys(database, clock()),

    async listForeign(count) {
      const pattern = `as_${environment}_%`;
      const filter = { pattern, nowMs: BigInt(clock()), count: BigInt(count) };
      return (await database.read(selectForeignKeys, filter)).map(({ id }) => id);
    },
  };
}

async function listKeys(database: Database, nowMs: number): Promise<ListedKey[]> {
  const rows = await database.read(selectKeys, {});
  return rows.map((row) => ({
    id: row.id,
    visibleStart: row.visible_start,
    account: row.account_name,
    plan: row.plan as PlanName,
    state: readState(row, nowMs),
    scopes: readScopes(row.scopes),
    createdAtMs: Number(row.created_at_ms),
    expiresAtMs: row.expires_at_ms === null ? null : Number(row.expires_at_ms),
    revokedAtMs: readRevocation(row),
    lastUsedAtMs: row.last_used_at_ms === null ? null : Number(row.last_used_at_ms),
  }));
}
