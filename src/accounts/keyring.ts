import { type Actor, type Authorship, commandActor } from '../audit/audit-entry.ts';
import { type Clock, dayMs } from '../clock.ts';
import type { AppError } from '../errors.ts';
import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import type { Plan } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import { partnerScopes, type Scope } from './account.ts';
import { findAccountId } from './accounts.ts';
import { generateKey, hashKey, type KeyEnvironment, randomText, visibleStart } from './api-key.ts';
import { createOwnKey, issueFirstKey, issueKey, type NewKey, revokeKey, rotateKey } from './key-changes.ts';
import { selectForeignKeys, selectKeyPage, selectNamedKeys, selectNewestKeys } from './key-rows.ts';
import { findKeyError, type ListedKey, toListedKey } from './key-state.ts';
import type { KeyVerifier } from './key-verifier.ts';

/** What a new key may do, and how long. */
interface KeyGrant {
  /** Name of the key, for people. */
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  /** Lifetime from now. Null: the key expires together with the key that creates it, or never. */
  readonly lifetimeMs: number | null;
}

/** A new key of an operator. */
export interface KeyOrder extends Pick<KeyGrant, 'lifetimeMs'>, Partial<Pick<KeyGrant, 'name'>> {
  /** Name of an existing or new account. Null creates an account with a generated name. */
  readonly account: string | null;
  /** Plan of a new account. For an existing account: null, or the plan that the account already has. */
  readonly plan: Plan | null;
  /** Null means `partnerScopes`. */
  readonly scopes: readonly Scope[] | null;
}

/** A new key with its text. The text is shown only once, because it is not stored. */
export interface IssuedKey extends ListedKey {
  readonly key: string;
}

/** Default overlap of a rotation. One day is enough to roll out the new key (docs/decisions/keys.md). */
export const defaultOverlapMs = dayMs;

/**
 * Lists and changes keys on behalf of an actor. Each change is one transaction that also writes the audit log
 * (key-changes.ts). A new key works at once on every instance, and a change within `freshMs` (key-verifier.ts).
 *
 * If the actor is a key, it reaches only the keys of its own account, and only scopes that it has or covers. Errors are
 * then those of the interface (`not_found`, `key_rotated`, `scope_missing`), otherwise OperatorErrors.
 */
export type Keyring = ReturnType<typeof createKeyring>;

/**
 * Creates the keyring of an actor. The text of new keys contains `environment`. Changes take effect at once in the
 * `verifier` of this instance, if there is one.
 */
export function createKeyring(
  database: Database,
  clock: Clock,
  environment: KeyEnvironment,
  actor: Actor = commandActor(),
  verifier?: Pick<KeyVerifier, 'flush' | 'forget'>,
) {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });

  return {
    ...createKeyLists(database, clock, environment),

    async issue({ account, plan, name = null, scopes, lifetimeMs }: KeyOrder) {
      const { key, newKey } = generateNewKey(environment);
      const grant = { name, scopes: scopes ?? partnerScopes, lifetimeMs };
      const of = { account: account ?? `account-${randomText(8)}`, plan };
      const stored = await database.transact(issueKey, { newKey, ...of, ...grant, by: byNow() });
      return { ...stored, key };
    },

    async issueFirst(account: string, plan: Plan): Promise<IssuedKey | null> {
      const { key, newKey } = generateNewKey(environment);
      const stored = await database.transact(issueFirstKey, { newKey, account, plan, by: byNow() });
      return stored && { ...stored, key };
    },

    async create(grant: KeyGrant): Promise<IssuedKey> {
      const { key, newKey } = generateNewKey(environment);
      return { ...(await database.transact(createOwnKey, { ...grant, newKey, by: byNow() })), key };
    },

    async rotate(id: string, overlapMs: number) {
      const { key, newKey } = generateNewKey(environment);
      // The uses that this instance has noted decide whether a successor was used.
      await verifier?.flush();
      const stored = await database.transact(rotateKey, { newKey, id, overlapMs, by: byNow() });
      verifier?.forget(id);
      return { ...stored, key };
    },

    async revoke(id: string): Promise<void> {
      await database.transact(revokeKey, { id, by: byNow() });
      verifier?.forget(id);
    },
  };
}

function generateNewKey(environment: KeyEnvironment): { readonly key: string; readonly newKey: NewKey } {
  const key = generateKey(environment);
  const id = `key_${randomText(16)}`;
  return { key, newKey: { id, secretHash: hashKey(key), visibleStart: visibleStart(key) } };
}

function createKeyLists(database: Database, clock: Clock, environment: KeyEnvironment) {
  return {
    /**
     * Returns the newest keys of one or all accounts, revoked ones too, the oldest of them first. Throws OperatorError if
     * the account does not exist.
     */
    async list(account: string | null = null, countMax?: number): Promise<ListedKey[]> {
      const accountId = account === null ? null : await findAccountId(database, account);
      const count = countMax === undefined ? int64Max : BigInt(countMax);
      const rows = await database.read(selectNewestKeys({ accountId }), { accountId, count });
      return rows.toReversed().map((row) => toListedKey(row, clock()));
    },

    /** Returns a page of the keys of an account that are not revoked, newest first, from the key `firstId` on if given. */
    async listPage(
      accountId: bigint,
      limit: number,
      firstId: string | null,
    ): Promise<Page<ListedKey, string>> {
      const range = { accountId, firstId, count: BigInt(limit + 1) };
      const rows = await database.read(selectKeyPage({ firstId }), range);
      return toPage(rows, limit, (row) => toListedKey(row, clock()));
    },

    /** Returns the ids of at most `count` valid keys of other environments. Such keys do not work here. */
    async listForeign(count: number): Promise<string[]> {
      const filter = { pattern: `as_${environment}_%`, nowMs: BigInt(clock()), count: BigInt(count) };
      return (await database.read(selectForeignKeys, filter)).map(({ id }) => id);
    },
  };
}

/**
 * Checks keys again for requests that have waited since their authentication. Returns an error for each key that is
 * expired, revoked, or of a suspended account.
 */
export async function findEndedKeys(
  database: Database,
  ids: ReadonlySet<string>,
  nowMs: number,
): Promise<Map<string, AppError>> {
  const rows = await database.read(selectNamedKeys, { ids: JSON.stringify([...ids]) });
  const errors = rows.map((row) => [row.id, findKeyError(row, nowMs)] as const);
  return new Map(errors.filter((found): found is [string, AppError] => found[1] !== null));
}
