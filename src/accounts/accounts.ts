import type { Actor, Authorship } from '../audit/audit-entry.ts';
import { commandActor } from '../audit/audit-entry.ts';
import type { Clock } from '../clock.ts';
import { type Limits, openHoldsOf, type Plan, type PlanName } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import { type PlanRow, readPlan } from './account-plan.ts';
import { selectAccount, selectListedAccount, selectListedAccounts } from './account-rows.ts';
import {
  createAccount,
  noSuchAccount,
  renameAccount,
  setAccountPlan,
  suspendAccount,
} from './account-works.ts';

/** An account as operators see it. */
export interface ListedAccount {
  readonly id: bigint;
  readonly account: string;
  readonly plan: PlanName;
  readonly limits: Limits;
  /** Maximum number of holds that may be open at once. */
  readonly openHolds: number;
  /** Number of keys of the account, including expired and revoked keys. */
  readonly keys: number;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
  /** Unix milliseconds; null if the account is not suspended. */
  readonly suspendedAtMs: number | null;
}

/** Manages accounts for operators. Each change is one transaction that also writes the audit log. */
export interface Accounts {
  /** Returns all accounts, oldest first. */
  list(): Promise<ListedAccount[]>;
  /** Throws OperatorError if the account does not exist. */
  findId(account: string): Promise<bigint>;
  /** Throws OperatorError if the account does not exist. */
  find(account: string): Promise<ListedAccount>;
  /** Creates an account without a key. Throws OperatorError if the name is taken or invalid. */
  create(account: string, plan: Plan): Promise<void>;
  /** Throws OperatorError if the account does not exist, or if the new name is taken or invalid. */
  rename(account: string, newName: string): Promise<void>;
  /**
   * Suspends an account: its requests get 403 and its holds expire. A running service applies this within
   * `rememberedMs` (key-verifier.ts). Does nothing if the account is already suspended. Throws OperatorError if the
   * account does not exist.
   */
  suspend(account: string): Promise<void>;
  /** Resumes an account, if it is suspended. Throws OperatorError if the account does not exist. */
  resume(account: string): Promise<void>;
  /**
   * Changes the plan of an account. A running service applies this within `rememberedMs` (key-verifier.ts). Open rate
   * limit windows keep their counts. Throws OperatorError if the account does not exist.
   */
  setPlan(account: string, plan: Plan): Promise<void>;
}

/** Creates the account management of a store. The audit log names `actor` as the author of each change. */
export function createAccounts(database: Database, clock: Clock, actor: Actor = commandActor()): Accounts {
  const byNow = (): Authorship => ({ actor, nowMs: clock() });

  return {
    async list() {
      return (await database.read(selectListedAccounts, {})).map(toListedAccount);
    },

    async find(name) {
      const [row] = await database.read(selectListedAccount, { name });
      if (row === undefined) throw noSuchAccount(name);
      return toListedAccount(row);
    },

    async findId(account) {
      const [row] = await database.read(selectAccount, { name: account });
      if (row === undefined) throw noSuchAccount(account);
      return row.id;
    },

    create: (name, plan) => database.transact(createAccount, { name, plan, by: byNow() }),
    rename: (name, newName) => database.transact(renameAccount, { name, newName, by: byNow() }),
    setPlan: (name, plan) => database.transact(setAccountPlan, { name, plan, by: byNow() }),
    suspend: (name) => database.transact(suspendAccount, { name, isSuspended: true, by: byNow() }),
    resume: (name) => database.transact(suspendAccount, { name, isSuspended: false, by: byNow() }),
  };
}

interface AccountRow extends PlanRow {
  readonly id: bigint;
  readonly name: string;
  readonly created_at_ms: bigint;
  readonly suspended_at_ms: bigint | null;
  readonly keys: bigint | null;
}

function toListedAccount(row: AccountRow): ListedAccount {
  const { name: plan, limits, openHolds = openHoldsOf[plan] } = readPlan(row);
  return {
    id: row.id,
    account: row.name,
    plan,
    limits,
    openHolds,
    keys: Number(row.keys),
    createdAtMs: Number(row.created_at_ms),
    suspendedAtMs: row.suspended_at_ms === null ? null : Number(row.suspended_at_ms),
  };
}
