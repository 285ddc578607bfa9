import type { Actor, Authorship } from '../audit/audit-entry.ts';
import { commandActor } from '../audit/audit-entry.ts';
import { type Clock, dayMs } from '../clock.ts';
import { int64Max } from '../int64.ts';
import type { Plan, PlanName } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import { partnerScopes, type Scope } from './account.ts';
import { selectAccount } from './account-rows.ts';
import { noSuchAccount } from './account-works.ts';
import type { NewKey, StoredKey } from './add-key.ts';
import { generateKey, hashKey, type KeyEnvironment, randomText, visibleStart } from './api-key.ts';
import { selectForeignKeys, selectKeys, selectNewestKeys } from './api-key-rows.ts';
import { type KeyState, readRevocation, readScopes, readState } from './key-state.ts';
import { issueFirstKey, issueKey, revokeKey, rotateKey } from './key-works.ts';

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
export interface IssuedKey extends StoredKey {
  readonly key: string;
}

/** A new key, and whether its account is new too. */
export interface IssuedAccountKey extends IssuedKey {
  readonly isNewAccount: boolean;
}

/** The key that replaces a rotated key. */
export interface SuccessorKey extends IssuedKey {
  /** When the rotated key expires, in Unix milliseconds. */
  readonly oldEndsAtMs: number;
}

/** A key as operators see it. Times are Unix milliseconds. Null means never. */
export interface ListedKey {
  readonly id: string;
  readonly visibleStart: string;
  readonly name: string | null;
  readonly account: string;
  readonly plan: PlanName;
  /** `banned`: the key is valid, but its requests are refused until the ban expires. */
  readonly state: KeyState | 'banned';
  /** Null if the key is not banned. */
  readonly bannedUntilMs: number | null;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** Rounded down to the minute. */
  readonly lastUsedAtMs: number | null;
}

/** Default overlap of a rotation. One day is enough to roll out the new key (docs/decisions/keys.md). */
export const defaultOverlapMs = dayMs;

/**
 * Manages keys for operators. Each change is one transaction. Throws OperatorError if the change is not possible, for
 * example because the key does not exist.
 */
export interface Keyring {
  /** Creates a key, and the account if it does not exist. The key works at once on every running instance. */
  issue(order: KeyOrder): Promise<IssuedAccountKey>;
  /** Creates a key with all scopes if the store has no account. Otherwise returns null. */
  issueFirst(account: string, plan: Plan): Promise<IssuedKey | null>;
  /**
   * Creates a key with the account, the scopes and the lifetime of an active key. The old key stays valid for
   * `overlapMs`, but not past its own expiry.
   */
  rotate(id: string, overlapMs: number): Promise<SuccessorKey>;
  /** Revokes a key permanently. A running service may accept the key for up to `rememberedMs` (key-verifier.ts). */
  revoke(id: string): Promise<void>;
  /** Returns the keys of one or all accounts, oldest first. Throws OperatorError if the account does not exist. */
  list(account?: string | null): Promise<ListedKey[]>;
  /** Returns the `count` newest keys, the oldest of them first. Throws OperatorError if the account does not exist. */
  listNewest(account: string, count: number): Promise<ListedKey[]>;
  /** Returns the ids of at most `count` valid keys of other environments. Such keys do not work here. */
  listForeign(count: number): Promise<string[]>;
}

/** Creates the keyring of a store. The audit log names `actor`. The text of new keys contains `environment`. */
export function createKeyring(
  database: Database,
  clock: Clock,
  environment: KeyEnvironment,
  actor: Actor = commandActor(),
): Keyring {
  const generate = () => generateNewKey(environment);
  const byNow = (): Authorship => ({ actor, nowMs: clock() });

  return {
    async issue({ account, plan, name = null, scopes: granted, lifetimeMs }) {
      const { key, newKey } = generate();
      const stored = await database.transact(issueKey, {
        newKey,
        account: account ?? `account-${randomText(8)}`,
        plan,
        name,
        scopes: granted ?? partnerScopes,
        lifetimeMs,
        by: byNow(),
      });
      return { ...stored, key };
    },

    async issueFirst(account, plan) {
      const { key, newKey } = generate();
      const stored = await database.transact(issueFirstKey, { newKey, account, plan, by: byNow() });
      return stored && { ...stored, key };
    },

    async rotate(id, overlapMs) {
      const { key, newKey } = generate();
      const stored = await database.transact(rotateKey, { newKey, id, overlapMs, by: byNow() });
      return { ...stored, key };
    },

    async revoke(id) {
      await database.transact(revokeKey, { id, by: byNow() });
    },

    list: (account = null) => listKeys(database, account, int64Max, clock()),
    listNewest: (account, count) => listKeys(database, account, BigInt(count), clock()),

    async listForeign(count) {
      const pattern = `as_${environment}_%`;
      const filter = { pattern, nowMs: BigInt(clock()), count: BigInt(count) };
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

async function listKeys(
  database: Database,
  account: string | null,
  count: bigint,
  nowMs: number,
): Promise<ListedKey[]> {
  if (account === null) return (await database.read(selectKeys, {})).map((row) => toListedKey(row, nowMs));
  const rows = await database.read(selectNewestKeys, { account, count });
  if (rows.length === 0) await requireAccount(database, account);
  return rows.toReversed().map((row) => toListedKey(row, nowMs));
}

async function requireAccount(database: Database, name: string): Promise<void> {
  const [row] = await database.read(selectAccount, { name });
  if (row === undefined) throw noSuchAccount(name);
}

interface KeyRow {
  readonly id: string;
  readonly visible_start: string;
  readonly name: string | null;
  readonly account_name: string;
  readonly plan: string;
  readonly scopes: string;
  readonly created_at_ms: bigint;
  readonly expires_at_ms: bigint | null;
  readonly revoked_at_ms: bigint | null;
  readonly last_used_at_ms: bigint | null;
  readonly banned_until_ms: bigint | null;
}

function toListedKey(row: KeyRow, nowMs: number): ListedKey {
  const state = readState(row, nowMs);
  const isBanned = (row.banned_until_ms ?? 0n) > nowMs && state !== 'expired' && state !== 'revoked';
  return {
    id: row.id,
    visibleStart: row.visible_start,
    name: row.name,
    account: row.account_name,
    plan: row.plan as PlanName,
    state: isBanned ? 'banned' : state,
    bannedUntilMs: isBanned ? Number(row.banned_until_ms) : null,
    scopes: readScopes(row.scopes),
    createdAtMs: Number(row.created_at_ms),
    expiresAtMs: row.expires_at_ms === null ? null : Number(row.expires_at_ms),
    revokedAtMs: readRevocation(row),
    lastUsedAtMs: row.last_used_at_ms === null ? null : Number(row.last_used_at_ms),
  };
}
