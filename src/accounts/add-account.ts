import { isDeepStrictEqual } from 'node:util';
import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { OperatorError } from '../errors.ts';
import type { Plan } from '../plans/plan.ts';
import { type Steps, step } from '../storage/database.ts';
import { accountNameRule, isAccountName } from './account.ts';
import { describePlan, readPlan, toPlanColumns } from './account-plan.ts';
import { insertAccount, selectAccount } from './account-rows.ts';

/** The account that a new key belongs to. */
export interface AccountRow {
  readonly id: bigint;
  readonly name: string;
  readonly plan: string;
}

/** An account, and whether this call created it. */
export interface FoundAccount {
  readonly row: AccountRow;
  readonly isNew: boolean;
}

/**
 * Returns the account with this name, or creates it with the plan. Throws OperatorError if a new account has no plan,
 * or if an existing account has a different plan.
 */
export function* findOrAddAccount(name: string, plan: Plan | null, by: Authorship): Steps<FoundAccount> {
  const [account] = yield* step(selectAccount, { name });
  if (account === undefined) {
    if (plan === null) throw new OperatorError(`there is no account "${name}": a new account needs a plan`);
    return { row: yield* addAccount(name, plan, by), isNew: true };
  }
  if (plan !== null && !isDeepStrictEqual(plan, readPlan(account)))
    throw new OperatorError(
      `the account "${name}" already has a plan (${account.plan}): "accounts set-plan" changes the plan`,
    );
  return { row: account, isNew: false };
}

/** Creates an account. Throws OperatorError if the name is invalid. */
export function* addAccount(name: string, plan: Plan, by: Authorship): Steps<AccountRow> {
  if (!isAccountName(name)) throw new OperatorError(accountNameRule);
  const columns = { name, ...toPlanColumns(plan), createdAtMs: BigInt(by.nowMs) };
  const [row] = yield* step(insertAccount, columns);
  if (row === undefined) throw new Error('the database returned no id for a new account');
  yield* addAuditEntry(by, {
    action: 'account.created',
    subject: name,
    accountId: row.id,
    before: null,
    after: describePlan(plan),
  });
  return { id: row.id, name, plan: plan.name };
}
