import type { Act, Actor } from '../audit/act.ts';
import { commandActor } from '../audit/command-actor.ts';
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

/** The properties of a key to be created. */
export interface KeyOrder {
  /** The name of an existing or new account. Null creates an account with a generated name. */
  readonly account: string | null;
  /** The plan of a new account. For an existing account, null or its current plan. */
  readonly plan: Plan | null;
  /** The name of the key, for people. Default: none. */
  readonly name?: string | null;
  /** The scopes of the key. Null means those that a partner needs. */
  readonly scopes: readonly Scope[] | null;
  /** How long the key is valid from now. Null means until it is revoked. */
  readonly lifetimeMs: number | null;
}

/** A new key with its text, which is shown only once. */
export interface IssuedKey extends StoredKey {
  readonly key: string;
}

/** A new key of an account. */
export interface IssuedAccountKey extends IssuedKey {
  readonly isNewAccount: boolean;
}

/** A key that replaces another. */
export interface SuccessorKey extends IssuedKey {
  /** When the replaced key ends, in Unix milliseconds. */
  readonly oldEndsAtMs: number;
}

/** A key as operators see it. Times are Unix milliseconds. Null means never. */
export interface ListedKey {
  readonly id: string;
  readonly visibleStart: string;
  readonly name: string | null;
  readonly account: string;
  readonly plan: PlanName;
  /** `banned`: the key is valid, but refused until its ban ends. */
  readonly state: KeyState | 'banned';
  /** When its ban ends. Null if it is not banned. */
  readonly bannedUntilMs: number | null;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** To the minute. */
  readonly lastUsedAtMs: number | null;
}

/** The default overlap of a rotation: long enough to roll out the new key (docs/decisions/keys.md). */
export const defaultOverlapMs = dayMs;

/**
 * Manages keys for operators. Each method is one transaction, so that simultaneous calls run one after the other. It
 * throws OperatorError if it cannot do its work.
 */
export interface Keyring {
  /** Creates a key, and its account if that is new. The key works at once on every running instance. */
  issue(order: KeyOrder): Promise<IssuedAccountKey>;
  /** Creates a key in a store without accounts. Returns null if there is an account. */
  issueFirst(account: string, plan: Plan): Promise<IssuedKey | null>;
  /**
   * Creates a key with the account, the scopes and the lifetime of an active key. The old key stays valid for
   * `overlapMs`, but not past its own expiry.
   */
  rotate(id: string, overlapMs: number): Promise<SuccessorKey>;
  /** Ends a key for good. A running service may accept it until it reads the key again (key-verifier.ts). */
  revoke(id: string): Promise<void>;
  /** All keys, or those of an account, oldest first. Throws OperatorError if the account does not exist. */
  list(account?: string | null): Promise<ListedKey[]>;
  /** The newest keys of an account, at most `count`. Throws OperatorError if the account does not exist. */
  listNewest(account: string, count: number): Promise<ListedKey[]>;
  /** The ids of valid keys of other environments, which do not work here: at most `count`. */
  listForeign(count: number): Promise<string[]>;
}

/** Creates the keyring of a store. The audit log names `actor`, and new keys have `environment` in their text. */
export function createKeyring(
  database: Database,
  clock: Clock,
  environment: KeyEnvironment,
  actor: Actor = commandActor(),
): Keyring {
  const generate = () => generateNewKey(environment);
  const actNow = (): Act => ({ actor, nowMs: clock() });

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
        act: actNow(),
      });
      return { ...stored, key };
    },

    async issueFirst(account, plan) {
      const { key, newKey } = generate();
      const stored = await database.transact(issueFirstKey, { newKey, account, plan, act: actNow() });
      return stored && { ...stored, key };
    },

    async rotate(id, overlapMs) {
      const { key, newKey } = generate();
      const stored = await database.transact(rotateKey, { newKey, id, overlapMs, act: actNow() });
      return { ...stored, key };
    },

    async revoke(id) {
      await database.transact(revokeKey, { id, act: actNow() });
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

/** Generates the text of a key, and the parts of it that are stored. */
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
