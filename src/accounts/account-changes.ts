import { isDeepStrictEqual } from 'node:util';
import type { AuditEntry, Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { OperatorError } from '../errors.ts';
import { insertReset } from '../limits/corrections.ts';
import type { Limits, Plan } from '../plans/plan.ts';
import { defineTransaction, type Steps, step } from '../storage/database.ts';
import { accountNameRule, isAccountName } from './account.ts';
import {
  type AccountRow,
  insertAccount,
  readLimits,
  readPlan,
  selectAccount,
  toPlanColumns,
  updateAccount,
} from './account-rows.ts';

interface AccountChange {
  readonly name: string;
  readonly by: Authorship;
}

/** Creates an account without a key. Throws OperatorError if the name is taken or invalid. */
export const createAccount = defineTransaction(
  'createAccount',
  function* ({ name, plan, by }: AccountChange & { readonly plan: Plan }): Steps<void> {
    yield* requireFreeName(name);
    yield* addAccount(name, plan, by);
  },
);

/** What the audit log says about a change. Null: nothing was changed. */
type Changed = (Pick<AuditEntry, 'action' | 'before' | 'after'> & { readonly subject?: string }) | null;

/** Declares the change of one account. Throws OperatorError if the account does not exist. */
function defineChange<I>(
  name: string,
  change: (account: AccountRow, input: I, by: Authorship) => Steps<Changed>,
) {
  return defineTransaction(name, function* (input: I & AccountChange): Steps<void> {
    const account = yield* findAccount(input.name);
    const changed = yield* change(account, input, input.by);
    if (changed !== null)
      yield* addAuditEntry(input.by, { subject: account.name, accountId: account.id, ...changed });
  });
}

/** Changes the plan of an account, and removes its own limits. Open rate limit windows keep their counts. */
export const setAccountPlan = defineChange(
  'setAccountPlan',
  function* (account, { plan }: { readonly plan: Plan }) {
    const noLimits = { own_per_minute: null, own_per_day: null, own_until_ms: null };
    yield* step(updateAccount, { ...account, ...toPlanColumns(plan), ...noLimits });
    return {
      action: 'account.plan_changed',
      before: describePlan(readPlan(account)),
      after: describePlan(plan),
    };
  },
);

/** Sets the limits of one account alone, on any plan, until a time in Unix milliseconds. Null: they do not end. */
export const setAccountLimits = defineChange(
  'setAccountLimits',
  function* (
    account,
    { limits, untilMs }: { readonly limits: Limits; readonly untilMs: number | null },
    { nowMs },
  ) {
    yield* step(updateAccount, {
      ...account,
      own_per_minute: BigInt(limits.perMinute),
      own_per_day: BigInt(limits.perDay),
      own_until_ms: untilMs === null ? null : BigInt(untilMs),
    });
    return {
      action: 'account.limits_set',
      before: { ...readLimits(account, nowMs) },
      after: { ...limits, until: untilMs === null ? null : new Date(untilMs).toISOString() },
    };
  },
);

/** Lets both windows of an account start again, on every instance within 2 s. */
export const resetAccountLimits = defineChange('resetAccountLimits', function* ({ id }, _input, { nowMs }) {
  yield* step(insertReset, { account_id: id, at_ms: BigInt(nowMs) });
  return { action: 'account.limits_reset', before: null, after: null };
});

/** Renames an account. Throws OperatorError if the new name is taken or invalid. */
export const renameAccount = defineChange(
  'renameAccount',
  function* (account, { newName }: { readonly newName: string }) {
    if (account.name === newName) return null;
    yield* requireFreeName(newName);
    yield* step(updateAccount, { ...account, name: newName });
    return {
      action: 'account.renamed',
      subject: newName,
      before: { account: account.name },
      after: { account: newName },
    };
  },
);

/** Suspends or resumes an account. The requests of a suspended one get 403, and its holds expire. */
export const suspendAccount = defineChange(
  'suspendAccount',
  function* (account, { isSuspended }: { readonly isSuspended: boolean }, { nowMs }) {
    if ((account.suspended_at_ms !== null) === isSuspended) return null;
    yield* step(updateAccount, { ...account, suspended_at_ms: isSuspended ? BigInt(nowMs) : null });
    return {
      action: isSuspended ? 'account.suspended' : 'account.resumed',
      before: { suspended: !isSuspended },
      after: { suspended: isSuspended },
    };
  },
);

/**
 * Returns the id of the account with this name, or creates it with the plan. Throws OperatorError if a new account has no
 * plan, or if an existing account has a different plan.
 */
export function* findOrAddAccount(
  name: string,
  plan: Plan | null,
  by: Authorship,
): Steps<{ readonly accountId: bigint; readonly isNew: boolean }> {
  const [found] = yield* step(selectAccount, { name });
  if (found === undefined) {
    if (plan === null) throw new OperatorError(`there is no account "${name}": a new account needs a plan`);
    return { accountId: yield* addAccount(name, plan, by), isNew: true };
  }
  if (plan !== null && !isDeepStrictEqual(plan, readPlan(found)))
    throw new OperatorError(
      `the account "${name}" already has a plan (${found.plan}): "accounts set-plan" changes the plan`,
    );
  return { accountId: found.id, isNew: false };
}

/** Creates an account and returns its id. Throws OperatorError if the name is invalid. */
export function* addAccount(name: string, plan: Plan, by: Authorship): Steps<bigint> {
  if (!isAccountName(name)) throw new OperatorError(accountNameRule);
  const columns = { name, ...toPlanColumns(plan), created_at_ms: BigInt(by.nowMs) };
  const [row] = yield* step(insertAccount, columns);
  if (row === undefined) throw new Error('the database returned no id for a new account');
  yield* addAuditEntry(by, {
    action: 'account.created',
    subject: name,
    accountId: row.id,
    before: null,
    after: describePlan(plan),
  });
  return row.id;
}

/** Returns the error for an account that does not exist. */
export function noSuchAccount(name: string): OperatorError {
  return new OperatorError(`there is no account "${name}": "accounts list" shows all accounts`);
}

/** Returns the account with this name. Throws OperatorError if there is none. */
export function* findAccount(name: string) {
  const [account] = yield* step(selectAccount, { name });
  if (account === undefined) throw noSuchAccount(name);
  return account;
}

/** Checks the name before the query, because PostgreSQL accepts no text with U+0000. */
function* requireFreeName(name: string): Steps<void> {
  if (!isAccountName(name)) throw new OperatorError(accountNameRule);
  const [taken] = yield* step(selectAccount, { name });
  if (taken !== undefined) throw new OperatorError(`an account named "${name}" already exists`);
}

/** Describes a plan for the audit log. Includes the numbers only if the plan is enterprise. */
function describePlan({ name, limits, openHolds }: Plan): Record<string, unknown> {
  if (name !== 'enterprise') return { plan: name };
  return { plan: name, ...limits, ...(openHolds !== undefined && { openHolds }) };
}
