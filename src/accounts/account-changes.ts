import { isDeepStrictEqual } from 'node:util';
import {
  type AuditAction,
  type AuditDetails,
  type Authored,
  type Authorship,
  addAuditEntry,
} from '../audit/audit-log.ts';
import { OperatorError } from '../errors.ts';
import { toTime } from '../format.ts';
import { insertReset } from '../limits/corrections.ts';
import type { Limits, Plan } from '../plans/plan.ts';
import { type Steps, step, transaction } from '../storage/database.ts';
import { accountNameRule, isAccountName } from './account.ts';
import {
  type AccountRow,
  insertAccount,
  readLimits,
  readOwnLimits,
  readPlan,
  selectAccount,
  toPlanColumns,
  updateAccount,
} from './account-rows.ts';

type Named = Authored & { readonly name: string };
type NewAccount = Named & { readonly plan: Plan };
type Changing = Named & { readonly change: AccountChange };

/** Creates an account without a key. Throws OperatorError if the name is taken or invalid. */
export const createAccount = transaction(
  'createAccount',
  'serializable',
  function* ({ name, plan, by }: NewAccount) {
    yield* requireFreeName(name);
    yield* addAccount(name, plan, by);
  },
);

/** A change of one account. */
export type AccountChange =
  | { readonly newName: string }
  /** Also removes the own limits. Open rate limit windows keep their counts. */
  | { readonly plan: Plan }
  /**
   * The limits of one account alone, on any plan, until a time in Unix milliseconds. Null: they do not end. With one number
   * alone, the other number stays, and without `untilMs` the end too.
   */
  | { readonly limits: Partial<Limits>; readonly untilMs?: number | null | undefined }
  /** The requests of a suspended account get 403, and its holds expire. */
  | { readonly isSuspended: boolean };

/** Changes an account. Throws OperatorError if there is none, or if the new name is taken or invalid. */
export const changeAccount = transaction(
  'changeAccount',
  'serializable',
  function* ({ name, change, by }: Changing) {
    const account = yield* findAccount(name);
    const changed = applyChange(account, change, by.nowMs);
    if (changed === null) return;
    if ('newName' in change) yield* requireFreeName(change.newName);
    const row = { ...account, ...changed.columns };
    yield* step(updateAccount, row);
    const { action, before, after } = changed;
    yield* addAuditEntry(by, action, row.name, { accountId: row.id, before, after });
  },
);

/** Returns the columns that change, and what the audit log says. Null: nothing changes. */
function applyChange(account: AccountRow, change: AccountChange, nowMs: number): Changed | null {
  if ('newName' in change) {
    const { newName: name } = change;
    if (account.name === name) return null;
    const before = { account: account.name };
    const after = { account: name };
    return { columns: { name }, action: 'account.renamed', before, after };
  }
  if ('plan' in change) {
    const noLimits = { own_per_minute: null, own_per_day: null, own_until_ms: null };
    const columns = { ...toPlanColumns(change.plan), ...noLimits };
    const before = describePlan(readPlan(account));
    const after = describePlan(change.plan);
    return { columns, action: 'account.plan_changed', before, after };
  }
  if ('limits' in change) {
    const before = readLimits(account, nowMs);
    const { perMinute = before.perMinute, perDay = before.perDay } = change.limits;
    const untilMs = findEnd(account, change, nowMs);
    const columns = {
      own_per_minute: BigInt(perMinute),
      own_per_day: BigInt(perDay),
      own_until_ms: untilMs,
    };
    const after = { perMinute, perDay, until: toTime(untilMs) };
    return { columns, action: 'account.limits_set', before: { ...before }, after };
  }
  const { isSuspended } = change;
  if ((account.suspended_at_ms !== null) === isSuspended) return null;
  const action = isSuspended ? 'account.suspended' : 'account.resumed';
  const columns = { suspended_at_ms: isSuspended ? BigInt(nowMs) : null };
  return { columns, action, before: { suspended: !isSuspended }, after: { suspended: isSuspended } };
}

/** Returns the end of new limits: the one that is given, or that of the limits of which one number stays. */
function findEnd(
  account: AccountRow,
  { limits, untilMs }: Extract<AccountChange, { limits: unknown }>,
  nowMs: number,
): bigint | null {
  if (untilMs !== undefined) return untilMs === null ? null : BigInt(untilMs);
  const isWhole = limits.perMinute !== undefined && limits.perDay !== undefined;
  return isWhole || readOwnLimits(account, nowMs) === null ? null : account.own_until_ms;
}

interface Changed extends Required<Pick<AuditDetails, 'before' | 'after'>> {
  readonly columns: Partial<AccountRow>;
  readonly action: AuditAction;
}

/** Lets both windows of an account start again, on every instance within 2 s. Throws as `changeAccount` does. */
export const resetAccountLimits = transaction(
  'resetAccountLimits',
  'serializable',
  function* ({ name, by }: Named): Steps<void> {
    const { id } = yield* findAccount(name);
    yield* step(insertReset, { account_id: id, at_ms: BigInt(by.nowMs) });
    yield* addAuditEntry(by, 'account.limits_reset', name, { accountId: id });
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
function* addAccount(name: string, plan: Plan, by: Authorship): Steps<bigint> {
  if (!isAccountName(name)) throw new OperatorError(accountNameRule);
  const columns = { name, ...toPlanColumns(plan), created_at_ms: BigInt(by.nowMs) };
  const [row] = yield* step(insertAccount, columns);
  if (row === undefined) throw new Error('the database returned no id for a new account');
  yield* addAuditEntry(by, 'account.created', name, { accountId: row.id, after: describePlan(plan) });
  return row.id;
}

/** Returns the account with this name. Throws OperatorError if there is none. */
export function* findAccount(name: string): Steps<AccountRow> {
  const [account] = yield* step(selectAccount, { name });
  return requireAccount(account, name);
}

/** Returns the account that was found by its name. Throws OperatorError if there is none. */
export function requireAccount<Row>(account: Row | undefined, name: string): Row {
  if (account !== undefined) return account;
  throw new OperatorError(`there is no account "${name}": "accounts list" shows all accounts`);
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
