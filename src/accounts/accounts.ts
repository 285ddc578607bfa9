import { OperatorError } from '../errors.ts';
import { type Limits, openHoldsOf, type Plan, type PlanName } from '../plans/plan.ts';
import type { Database } from '../storage/database.ts';
import { readPlan, toPlanColumns } from './account-plan.ts';
import { selectAccounts, updateAccountPlan } from './account-rows.ts';

/** An account as an operator sees it. */
export interface ListedAccount {
  readonly account: string;
  readonly plan: PlanName;
  readonly limits: Limits;
  /** How many holds may be open at once. */
  readonly openHolds: number;
  /** How many keys it has, ended ones included. */
  readonly keys: number;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
}

/** Accounts, for operators. */
export interface Accounts {
  /** All accounts, in the order in which they were made. */
  list(): Promise<ListedAccount[]>;
  /**
   * Moves an account to a plan; a running service follows within the time that it may remember a key
   * (key-verifier.ts). What is used up of the open windows stays used. Throws OperatorError if there is no such account.
   */
  setPlan(account: string, plan: Plan): Promise<void>;
}

/** The accounts of a store, for any number of callers at once; each method is one statement. */
export function createAccounts(database: Database): Accounts {
  return {
    async list() {
      const rows = await database.read(selectAccounts, {});
      return rows.map((row) => {
        const { name: plan, limits, openHolds = openHoldsOf[plan] } = readPlan(row);
        const createdAtMs = Number(row.created_at_ms);
        return { account: row.name, plan, limits, openHolds, keys: Number(row.keys), createdAtMs };
      });
    },

    async setPlan(account, plan) {
      const rows = await database.run(updateAccountPlan, { name: account, ...toPlanColumns(plan) });
      if (rows.length === 0)
        throw new OperatorError(`there is no account "${account}": "accounts list" shows them all`);
    },
  };
}
