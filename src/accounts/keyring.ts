import { type Actor, type Authorship, commandActor } from '../audit/audit-log.ts';
import { type Clock, dayMs } from '../clock.ts';
import type { AppError } from '../errors.ts';
import type { Plan } from '../plans/plan.ts';
import { randomText } from '../random-text.ts';
import type { Database } from '../storage/database.ts';
import { toPage } from '../storage/read-page.ts';
import { scopes as allScopes, partnerScopes, type Scope } from './account.ts';
import { selectAnyAccount } from './account-rows.ts';
import { findAccountId } from './accounts.ts';
import { generateKey, type KeyEnvironment } from './api-key.ts';
import {
  createOwnKey,
  type IssuedKey,
  issueKey,
  type KeyGrant,
  revokeKey,
  rotateKey,
} from './key-changes.ts';
import {
  type ListedKey,
  selectForeignKeys,
  selectKey,
  selectKeys,
  selectKeysByName,
  selectKeysByText,
  selectNamedKeys,
  toForeignKeys,
  toListedKey,
} from './key-rows.ts';
import { findKeyError } from './key-state.ts';
import type { KeyVerifier } from './key-verifier.ts';

/** A new key of an operator. */
export interface KeyOrder extends Pick<KeyGrant, 'lifetimeMs'>, Partial<Pick<KeyGrant, 'name'>> {
  /** Null creates an account with a generated name. */
  readonly account: string | null;
  /** Null, or the plan that the account has. A new account needs one. */
  readonly plan: Plan | null;
  /** Null means `partnerScopes`. */
  readonly scopes: readonly Scope[] | null;
}

/** Default overlap of a rotation. One day is enough to roll out the new key. */
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
 * Creates the keyring of an actor: a key of the account `accountId`, or an operator. Changes take effect at once in the
 * `verifier` of this instance, if any.
 */
export function createKeyring(
  database: Database,
  clock: Clock,
  environment: KeyEnvironment,
  actor: Actor = commandActor(),
  verifier?: Pick<KeyVerifier, 'flush' | 'forget'>,
  accountId?: bigint,
) {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });
  const generate = () => ({ id: `key_${randomText(16)}`, key: generateKey(environment) });

  function issue({ account, name = null, scopes, ...rest }: KeyOrder) {
    const of = { account: account ?? `account-${randomText(8)}`, name, scopes: scopes ?? partnerScopes };
    return database.transact(issueKey, { ...rest, ...of, newKey: generate(), by: byNow() });
  }

  return {
    ...createKeyLists(database, clock, environment),
    issue,

    /** Issues a key with all scopes, or returns null if the store has an account. Two calls at once may each issue one. */
    async issueFirst(account: string, plan: Plan): Promise<IssuedKey | null> {
      const existing = await database.read(selectAnyAccount, { count: 1n });
      return existing.length > 0 ? null : await issue({ account, plan, scopes: allScopes, lifetimeMs: null });
    },

    create: (grant: KeyGrant): Promise<IssuedKey> =>
      database.transact(createOwnKey, { ...grant, newKey: generate(), by: byNow() }, accountId),

    async rotate(id: string, overlapMs: number) {
      // The uses that this instance has noted decide whether a successor was used.
      await verifier?.flush();
      const issued = await database.transact(
        rotateKey,
        { newKey: generate(), id, overlapMs, by: byNow() },
        accountId,
      );
      verifier?.forget(id);
      return issued;
    },

    async revoke(id: string): Promise<void> {
      await database.transact(revokeKey, { id, by: byNow() }, accountId);
      verifier?.forget(id);
    },
  };
}

function createKeyLists(database: Database, clock: Clock, environment: KeyEnvironment) {
  return {
    /** Returns the newest keys of one or all accounts, revoked ones too, the oldest of them first. */
    async list(account: string | null = null, countMax = Number.MAX_SAFE_INTEGER): Promise<ListedKey[]> {
      const accountId = account === null ? null : await findAccountId(database, account);
      const filter = { accountId, firstId: null, isCurrent: null };
      const rows = await database.read(selectKeys, { ...filter, count: BigInt(countMax) });
      return rows.toReversed().map((row) => toListedKey(row, clock()));
    },

    /** Returns a page of the keys of an account that are not revoked, newest first, from the key `firstId` on if given. */
    async listPage(accountId: bigint, limit: number, firstId: string | null) {
      const filter = { accountId, firstId, isCurrent: 1n } as const;
      const rows = await database.read(selectKeys, { ...filter, count: BigInt(limit + 1) });
      return toPage(rows, limit, (row) => toListedKey(row, clock()));
    },

    /**
     * Returns at most `count` keys of all accounts: the key with this id, and those whose shown text or name begins with
     * `start`, in any case. Revoked and expired keys too.
     */
    async listByStart(start: string, count: number): Promise<ListedKey[]> {
      const wanted = { start, count: BigInt(count) };
      const found = await Promise.all([
        database.read(selectKey, { id: start }),
        database.read(selectKeysByText, wanted),
        database.read(selectKeysByName, wanted),
      ]);
      const rows = new Map(found.flat().map((row) => [row.id, row]));
      return [...rows.values()].slice(0, count).map((row) => toListedKey(row, clock()));
    },

    /** Returns the ids of at most `count` valid keys of other environments. Such keys do not work here. */
    async listForeign(count: number): Promise<string[]> {
      const rows = await database.read(selectForeignKeys, toForeignKeys(environment, clock(), count));
      return rows.map(({ id }) => id);
    },
  };
}

/** Checks the keys of requests that have waited again. Returns the error of each key that may no longer go on. */
export async function findEndedKeys(
  database: Database,
  ids: ReadonlySet<string>,
  nowMs: number,
): Promise<Map<string, AppError>> {
  const rows = await database.read(selectNamedKeys, { ids: JSON.stringify([...ids]) });
  const errors = rows.map((row) => [row.id, findKeyError(row, nowMs)] as const);
  return new Map(errors.filter((found): found is [string, AppError] => found[1] !== null));
}
