import { type Actor, type Authorship, commandActor } from '../audit/audit-log.ts';
import { type Clock, dayMs, hourMs } from '../clock.ts';
import { int64Max } from '../int64.ts';
import type { LookAtUsage } from '../limits/counters.ts';
import type { Usage } from '../limits/rules/decision.ts';
import type { Limits, Plan } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import { type Page, toPage } from '../storage/read-page.ts';
import { addUp, listUsage } from '../usage/usage.ts';
import {
  type AccountChange,
  changeAccount,
  createAccount,
  requireAccount,
  resetAccountLimits,
} from './account-changes.ts';
import {
  type AccountRow,
  type ListedAccount,
  selectAccount,
  selectAccountId,
  selectAccountPage,
  selectAccountStarts,
  selectAccountsByName,
  selectNamedAccounts,
  selectOpenHolds,
  toListedAccount,
} from './account-rows.ts';
import { deleteAccount, eraseAccount } from './delete-account.ts';

/** A page of accounts. The order `name` has only names that begin with `start`, in any case. */
export interface AccountQuery {
  readonly limit: number;
  readonly order: 'newest' | 'name';
  readonly start: string;
  /** The id of the first account on the page. Null: the first page. */
  readonly firstId: bigint | null;
}

/**
 * Manages accounts for operators. Each change is one transaction that also writes the audit log (account-changes.ts). A
 * running service applies it within `freshMs` (key-verifier.ts). All methods that take the name of an account throw
 * OperatorError if the account does not exist.
 */
export type Accounts = ReturnType<typeof createAccounts>;

/** Creates the account management of a store. The audit log names `actor` as the author of each change. */
export function createAccounts(database: Database, clock: Clock, actor: Actor = commandActor()) {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });
  const change = (name: string, to: AccountChange) =>
    database.transact(changeAccount, { name, change: to, by: byNow() });

  const reads = createAccountReads(database, clock);

  return {
    ...reads,

    create: (name: string, plan: Plan) => database.transact(createAccount, { name, plan, by: byNow() }),
    rename: (name: string, newName: string) => change(name, { newName }),
    setPlan: (name: string, plan: Plan) => change(name, { plan }),
    /** Sets limits of one account alone, and returns the account. `AccountChange` says what stays. */
    async setLimits(name: string, limits: Partial<Limits>, untilMs?: number | null): Promise<ListedAccount> {
      await change(name, { limits, untilMs });
      return await reads.find(name);
    },
    suspend: (name: string) => change(name, { isSuspended: true }),
    resume: (name: string) => change(name, { isSuspended: false }),
    resetLimits: (name: string) => database.transact(resetAccountLimits, { name, by: byNow() }),

    /** Deletes an account. With `keptDays`, throws OperatorError for an order completed within so many days. */
    async delete(name: string, keptDays: number | null) {
      const keptMs = keptDays === null ? null : BigInt(keptDays * dayMs);
      const { id, ...ended } = await database.transact(deleteAccount, { name, keptMs, by: byNow() });
      return { ...ended, holds: await eraseAccount(database, id) };
    },
  };
}

/** The state of an account, for operators. */
export type AccountState = Awaited<ReturnType<Accounts['readState']>>;

function createAccountReads(database: Database, clock: Clock) {
  const toListed = (row: AccountRow) => toListedAccount(row, clock());
  const find = async (name: string): Promise<ListedAccount> => toListed(await readAccount(database, name));

  return {
    find,

    findId: (name: string) => findAccountId(database, name),

    /** Returns all accounts, oldest first. */
    async list(): Promise<ListedAccount[]> {
      const rows = await database.read(selectAccountPage, { newestId: int64Max, count: int64Max });
      return rows.toReversed().map(toListed);
    },

    /** Returns a page of accounts, read from an index. The cost of a page does not grow with the number of accounts. */
    async listPage({ limit, order, start, firstId }: AccountQuery): Promise<Page<ListedAccount>> {
      const count = BigInt(limit) + 1n;
      const rows = await (order === 'name'
        ? database.read(selectAccountsByName, { start, firstId: firstId ?? 0n, count })
        : database.read(selectAccountPage, { newestId: firstId ?? int64Max, count }));
      return toPage(rows, limit, toListed);
    },

    /** Returns the accounts with these names, in their order. Leaves out those that do not exist. */
    async listNamed(names: readonly string[]): Promise<ListedAccount[]> {
      const rows = await database.read(selectNamedAccounts, { names: JSON.stringify(names) });
      const found = new Map(rows.map((row) => [row.name, toListed(row)]));
      return names.map((name) => found.get(name)).filter((account) => account !== undefined);
    },

    /** Returns an account with its use. `look` reads its windows. */
    async readState(name: string, look: LookAtUsage) {
      const { keys: keysTotal, ...account } = await find(name);
      const { id, limits } = account;
      const nowMs = clock();
      const [usage, { minute, day }, holdsOpen] = await Promise.all([
        listUsage(database, id, nowMs),
        look(`account:${id}`),
        countOpenHolds(database, id),
      ]);
      // An hour counts if a part of it lies in the last 24 hours.
      const lastDay = usage.filter(({ atMs }) => atMs > nowMs - dayMs - hourMs);
      return {
        ...account,
        minute: toWindow(minute, limits.perMinute),
        day: toWindow(day, limits.perDay),
        holdsOpen: Number(holdsOpen),
        keysTotal,
        /** Request counts per hour, oldest first. Hours without requests are absent. */
        usage,
        lastDay: lastDay.reduce(addUp, { requests: 0, refusals: 0, errors: 0 }),
      };
    },
  };
}

async function readAccount(database: Database, name: string): Promise<AccountRow> {
  const [row] = await database.read(selectAccount, { name });
  return requireAccount(row, name);
}

/** Returns at most `count` accounts whose names begin with `start`, in any case, by name. */
export async function findAccounts(database: Database, start: string, count: number) {
  const rows = await database.read(selectAccountStarts, { start, count: BigInt(count) });
  return rows.map((row) => ({ account: row.name, isSuspended: row.suspended_at_ms !== null }));
}

/** Returns the id of an account. Throws OperatorError if the account does not exist. */
export async function findAccountId(database: Database, name: string): Promise<bigint> {
  const [row] = await database.read(selectAccountId, { name });
  return requireAccount(row, name).id;
}

/** Returns the number of holds of an account that are open and have not expired. */
export async function countOpenHolds(database: Database, accountId: bigint): Promise<bigint> {
  const [holds] = await database.read(selectOpenHolds, { accountId, newestId: int64Max });
  return holds?.count ?? 0n;
}

/** `resetAtMs` is null if the window is not open. */
function toWindow({ used, endsAtMs }: Usage['minute'], limit: number) {
  return { limit, used, remaining: Math.max(0, limit - used), resetAtMs: used === 0 ? null : endsAtMs };
}
