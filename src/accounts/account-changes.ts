import { isDeepStrictEqual } from 'node:util';
import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { OperatorError } from '../errors.ts';
import { insertReset } from '../limits/corrections.ts';
import type { Limits, Plan } from '../plans/plan.ts';
import { defineTransaction, type Steps, step } from '../storage/database.ts';
import { accountNameRule, isAccountName } from './account.ts';
import {
  insertAccount,
  readLimits,
  readPlan,
  selectAccount,
  toPlanColumns,
  updateAccountName,
  updateAccountPlan,
  updateOwnLimits,
  updateSuspension,
} from './account-rows.ts';

interface AccountOnPlan {
  readonly name: string;
  readonly plan: Plan;
  readonly by: Authorship;
}

/** Creates an account without a key. Throws OperatorError if the name is taken or invalid. */
export const createAccount = defineTransaction(
  'createAccount',
  function* ({ name, plan, by }: AccountOnPlan): Steps<void> {
    yield* requireFreeName(name);
    yield* addAccount(name, plan, by);
  },
);

/** Changes the plan of an account, and removes the limits of this account alone. Throws OperatorError if the account does not exist. */
export const setAccountPlan = defineTransaction(
  'setAccountPlan',
  function* ({ name, plan, by }: AccountOnPlan): Steps<void> {
    const account = yield* findAccount(name);
    yield* step(updateAccountPlan, { id: account.id, ...toPlanColumns(plan) });
    yield* step(updateOwnLimits, { id: account.id, perMinute: null, perDay: null, untilMs: null });
    yield* addAuditEntry(by, {
      action: 'account.plan_changed',
      subject: name,
      accountId: account.id,
      before: describePlan(readPlan(account)),
      after: describePlan(plan),
    });
  },
);

interface SetLimits {
  readonly name: string;
  readonly limits: Limits;
  /** Null: the limits do not end. */
  readonly untilMs: number | null;
  readonly by: Authorship;
}

/** Sets the limits of one account alone, on any plan. Throws OperatorError if the account does not exist. */
export const setAccountLimits = defineTransaction(
  'setAccountLimits',
  function* ({ name, limits, untilMs, by }: SetLimits): Steps<void> {
    const account = yield* findAccount(name);
    yield* step(updateOwnLimits, {
      id: account.id,
      perMinute: BigInt(limits.perMinute),
      perDay: BigInt(limits.perDay),
      untilMs: untilMs === null ? null : BigInt(untilMs),
    });
    yield* addAuditEntry(by, {
      action: 'account.limits_set',
      subject: name,
      accountId: account.id,
      before: { ...readLimits(account, by.nowMs) },
      after: { ...limits, until: untilMs === null ? null : new Date(untilMs).toISOString() },
    });
  },
);

interface NamedAccount {
  readonly name: string;
  readonly by: Authorship;
}

/** Lets both windows of an account start again. Throws OperatorError if the account does not exist. */
export const resetAccountLimits = defineTransaction(
  'resetAccountLimits',
  function* ({ name, by }: NamedAccount): Steps<void> {
    const { id } = yield* findAccount(name);
    yield* step(insertReset, { accountId: id, atMs: BigInt(by.nowMs) });
    yield* addAuditEntry(by, {
      action: 'account.limits_reset',
      subject: name,
      accountId: id,
      before: null,
      after: null,
    });
  },
);

interface RenameAccount {
  readonly name: string;
  readonly newName: string;
  readonly by: Authorship;
}

/** Renames an account. Throws OperatorError if the account does not exist, or if the new name is taken or invalid. */
export const renameAccount = defineTransaction(
  'renameAccount',
  function* ({ name, newName, by }: RenameAccount): Steps<void> {
    const { id } = yield* findAccount(name);
    if (name === newName) return;
    yield* requireFreeName(newName);
    yield* step(updateAccountName, { id, name: newName });
    yield* addAuditEntry(by, {
      action: 'account.renamed',
      subject: newName,
      accountId: id,
      before: { account: name },
      after: { account: newName },
    });
  },
);

interface SuspendAccount {
  readonly name: string;
  readonly isSuspended: boolean;
  readonly by: Authorship;
}

/**
 * Suspends or resumes an account. Does nothing if the account is already in that state. Throws OperatorError if the
 * account does not exist.
 */
export const suspendAccount = defineTransaction(
  'suspendAccount',
  function* ({ name, isSuspended, by }: SuspendAccount): Steps<void> {
    const { id, suspended_at_ms } = yield* findAccount(name);
    if ((suspended_at_ms !== null) === isSuspended) return;
    yield* step(updateSuspension, { id, suspendedAtMs: isSuspended ? BigInt(by.nowMs) : null });
    yield* addAuditEntry(by, {
      action: isSuspended ? 'account.suspended' : 'account.resumed',
      subject: name,
      accountId: id,
      before: { suspended: !isSuspended },
      after: { suspended: isSuspended },
    });
  },
);

/** The account that a new key belongs to. */
export interface KeyAccount {
  readonly id: bigint;
  readonly name: string;
  readonly plan: string;
}

/**
 * Returns the account with this name, or creates it with the plan. Throws OperatorError if a new account has no plan,
 * or if an existing account has a different plan.
 */
export function* findOrAddAccount(
  name: string,
  plan: Plan | null,
  by: Authorship,
): Steps<{ readonly account: KeyAccount; readonly isNew: boolean }> {
  const [found] = yield* step(selectAccount, { name });
  if (found === undefined) {
    if (plan === null) throw new OperatorError(`there is no account "${name}": a new account needs a plan`);
    return { account: yield* addAccount(name, plan, by), isNew: true };
  }
  if (plan !== null && !isDeepStrictEqual(plan, readPlan(found)))
    throw new OperatorError(
      `the account "${name}" already has a plan (${found.plan}): "accounts set-plan" changes the plan`,
    );
  return { account: found, isNew: false };
}

/** Creates an account. Throws OperatorError if the name is invalid. */
export function* addAccount(name: string, plan: Plan, by: Authorship): Steps<KeyAccount> {
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
