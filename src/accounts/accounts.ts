import { type Actor, type Authorship, commandActor } from '../audit/audit-entry.ts';
import { type Clock, dayMs } from '../clock.ts';
import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import type { Limits, Plan } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import {
  createAccount,
  noSuchAccount,
  renameAccount,
  resetAccountLimits,
  setAccountLimits,
  setAccountPlan,
  suspendAccount,
} from './account-changes.ts';
import {
  type ListedAccount,
  type PagedAccount,
  selectAccount,
  selectAccountPage,
  selectAccountsByName,
  selectListedAccount,
  selectListedAccounts,
  selectNamedAccounts,
  toListedAccount,
  toPagedAccount,
} from './account-rows.ts';
import { deleteAccount, type Erased, eraseAccount } from './delete-account.ts';

/** The order, the filter, the size and the start of a page. */
export interface AccountQuery {
  readonly limit: number;
  /** `name` also filters by the start of the name. */
  readonly order: 'newest' | 'name';
  /** The start of the name, whatever the case. Only for the order `name`. */
  readonly start: string;
  /** The id of the first account on the page; null starts at the first page. */
  readonly firstId: bigint | null;
}

/**
 * Manages accounts for operators. Each change is one transaction that also writes the audit log. All methods that take
 * the name of an account throw OperatorError if the account does not exist.
 */
export interface Accounts {
  /** Returns all accounts, oldest first. */
  list(): Promise<ListedAccount[]>;
  /** Returns a page of accounts, read from an index. The cost of a page does not grow with the number of accounts. */
  listPage(query: AccountQuery): Promise<Page<PagedAccount>>;
  /** Returns the accounts with these names, in their order. Leaves out those that do not exist. */
  listNamed(names: readonly string[]): Promise<PagedAccount[]>;
  findId(account: string): Promise<bigint>;
  find(account: string): Promise<ListedAccount>;
  /** Creates an account without a key. Throws OperatorError if the name is taken or invalid. */
  create(account: string, plan: Plan): Promise<void>;
  /** Throws OperatorError if the new name is taken or invalid. */
  rename(account: string, newName: string): Promise<void>;
  /**
   * Suspends an account: its requests get 403 and its holds expire. A running service applies this within `freshMs`
   * (key-verifier.ts). Does nothing if the account is already suspended.
   */
  suspend(account: string): Promise<void>;
  /** Resumes an account, if it is suspended. */
  resume(account: string): Promise<void>;
  /**
   * Changes the plan of an account, and removes its own limits. A running service applies this within `freshMs`
   * (key-verifier.ts). Open rate limit windows keep their counts.
   */
  setPlan(account: string, plan: Plan): Promise<void>;
  /** Sets limits of this account alone, on any plan, until a time in Unix milliseconds. Null: they do not end. */
  setLimits(account: string, limits: Limits, untilMs: number | null): Promise<void>;
  /** Lets both windows of an account start again, on every instance within 2 s. */
  resetLimits(account: string): Promise<void>;
  /**
   * Deletes an account and erases its data (delete-account.ts). If a process is killed halfway, a running service
   * erases the rest. With `keptDays`, throws OperatorError if an order was completed within so many days.
   */
  delete(account: string, keptDays: number | null): Promise<Erased>;
}

/** Creates the account management of a store. The audit log names `actor` as the author of each change. */
export function createAccounts(database: Database, clock: Clock, actor: Actor = commandActor()): Accounts {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });

  return {
    async list() {
      return (await database.read(selectListedAccounts, {})).map((row) => toListedAccount(row, clock()));
    },

    async listPage({ limit, order, start, firstId }) {
      const count = BigInt(limit) + 1n;
      const rows = await (order === 'name'
        ? database.read(selectAccountsByName, { start, firstId: firstId ?? 0n, count })
        : database.read(selectAccountPage, { newestId: firstId ?? int64Max, count }));
      return toPage(rows, limit, (row) => toPagedAccount(row, clock()));
    },

    async listNamed(names) {
      const rows = await database.read(selectNamedAccounts, { names: JSON.stringify(names) });
      const found = new Map(rows.map((row) => [row.name, toPagedAccount(row, clock())]));
      return names.map((name) => found.get(name)).filter((account) => account !== undefined);
    },

    async find(name) {
      const [row] = await database.read(selectListedAccount, { name });
      if (row === undefined) throw noSuchAccount(name);
      return toListedAccount(row, clock());
    },

    async findId(name) {
      const [row] = await database.read(selectAccount, { name });
      if (row === undefined) throw noSuchAccount(name);
      return row.id;
    },

    create: (name, plan) => database.transact(createAccount, { name, plan, by: byNow() }),
    rename: (name, newName) => database.transact(renameAccount, { name, newName, by: byNow() }),
    setPlan: (name, plan) => database.transact(setAccountPlan, { name, plan, by: byNow() }),
    setLimits: (name, limits, untilMs) =>
      database.transact(setAccountLimits, { name, limits, untilMs, by: byNow() }),
    resetLimits: (name) => database.transact(resetAccountLimits, { name, by: byNow() }),
    async delete(name, keptDays) {
      const keptMs = keptDays === null ? null : BigInt(keptDays * dayMs);
      const { id, ...ended } = await database.transact(deleteAccount, { name, keptMs, by: byNow() });
      return { ...ended, holds: await eraseAccount(database, id) };
    },
    suspend: (name) => database.transact(suspendAccount, { name, isSuspended: true, by: byNow() }),
    resume: (name) => database.transact(suspendAccount, { name, isSuspended: false, by: byNow() }),
  };
}
