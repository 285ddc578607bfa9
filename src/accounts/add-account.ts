import { isDeepStrictEqual } from 'node:util';
import { OperatorError } from '../errors.ts';
import type { Plan } from '../plans/plan.ts';
import { step, type Work } from '../storage/database.ts';
import { accountNameRule, isAccountName } from './account.ts';
import { readPlan, toPlanColumns } from './account-plan.ts';
import { insertAccount, selectAccount } from './account-rows.ts';

/** An account that keys can be made for. */
export interface AccountRow {
  readonly id: bigint;
  readonly name: string;
  readonly plan: string;
}

/**
 * The account of that name, or a new one on the plan. Throws OperatorError if a new one has no plan, or if the account
 * is on another plan.
 */
export function* findOrAddAccount(name: string, plan: Plan | null, nowMs: number): Work<AccountRow> {
  const [account] = yield* step(selectAccount, { name });
  if (account === undefined) {
    if (plan === null) throw new OperatorError(`there is no account "${name}": a new one needs a plan`);
    return yield* addAccount(name, plan, nowMs);
  }
  if (plan !== null && !isDeepStrictEqual(plan, readPlan(account)))
    throw new OperatorError(
      `the account "${name}" is on the plan ${account.plan} already: "accounts set-plan" changes it`,
    );
  return account;
}

/** Makes an account. Throws OperatorError where the name can be none. */
export function* addAccount(name: string, plan: Plan, nowMs: number): Work<AccountRow> {
  if (!isAccountName(name)) throw new OperatorError(accountNameRule);
  const columns = { name, ...toPlanColumns(plan), createdAtMs: BigInt(nowMs) };
  const [row] = yield* step(insertAccount, columns);
  if (row === undefined) throw new Error('the store gave no id for a new account');
  return { id: row.id, name, plan: plan.name };
}
