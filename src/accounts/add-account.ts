import { isDeepStrictEqual } from 'node:util';
import { OperatorError } from '../errors.ts';
import type { Plan } from '../plans/plan.ts';
import { step, type Work } from '../storage/database.ts';
import { accountNameRule, isAccountName } from './account.ts';
import { readPlan, toPlanColumns } from './account-plan.ts';
import { insertAccount, selectAccount } from './account-rows.ts';
import { randomText } from './api-key.ts';

/** An account that keys can be made for. */
export interface AccountRow {
  readonly id: bigint;
  readonly name: string;
  readonly plan: string;
}

/**
 * The account of that name, or a new one on the plan; null makes a new one with a name of its own. Throws OperatorError
 * where a new one lacks a plan, or one that is there is on another.
 */
export function* findOrAddAccount(name: string | null, plan: Plan | null, nowMs: number): Work<AccountRow> {
  const [account] = name === null ? [] : yield* step(selectAccount, { name });
  if (account === undefined) {
    if (plan === null) throw new OperatorError(`there is no account "${name}": a new one needs a plan`);
    return yield* addAccount(name ?? `account-${randomText(8)}`, plan, nowMs);
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
