import { type Clock, dayMs, hourMs } from '../clock.ts';
import type { LookAtUsage } from '../limits/counters.ts';
import type { Usage } from '../limits/rules/decision.ts';
import { type Database, statement } from '../storage/database.ts';
import { listUsage, type UsageHour } from '../usage/usage.ts';
import type { ListedAccount } from './account-rows.ts';
import type { Accounts } from './accounts.ts';

/** A rate limit window of an account. */
export interface WindowState {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** Unix milliseconds; null if the window is not open. */
  readonly resetAtMs: number | null;
}

/** The state of an account, for operators. */
export interface AccountState extends Omit<ListedAccount, 'keys'> {
  readonly minute: WindowState;
  readonly day: WindowState;
  readonly holdsOpen: number;
  /** Number of keys of the account, including expired and revoked keys. */
  readonly keysTotal: number;
  /** Request counts per hour, oldest first. Hours without requests are absent. */
  readonly usage: readonly UsageHour[];
  readonly lastDay: Omit<UsageHour, 'atMs'>;
}

/** The dependencies of `readAccountState`. */
export interface StateSources {
  readonly database: Database;
  readonly accounts: Pick<Accounts, 'find'>;
  readonly look: LookAtUsage;
  readonly clock: Clock;
}

/** Reads the state of an account. Throws OperatorError if the account does not exist. */
export async function readAccountState(sources: StateSources, name: string): Promise<AccountState> {
  const { database, accounts, look, clock } = sources;
  const { keys: keysTotal, ...account } = await accounts.find(name);
  const nowMs = clock();
  const [usage, standing, [holds]] = await Promise.all([
    listUsage(database, account.id, nowMs),
    look(`account:${account.id}`),
    database.read(countOpenHolds, { accountId: account.id }),
  ]);
  return {
    ...account,
    ...toWindows(standing, account),
    holdsOpen: Number(holds?.count ?? 0n),
    keysTotal,
    usage,
    lastDay: sumUp(usage.filter(({ atMs }) => atMs > nowMs - dayMs - hourMs)),
  };
}

const countOpenHolds = statement<{ accountId: bigint }>()((query, p, { nowMs }) =>
  query
    .selectFrom('orders')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('account_id', '=', p.accountId)
    .where('closed_at_ms', 'is', null)
    .where('expires_at_ms', '>', nowMs),
);

function toWindows(usage: Usage, { limits }: Pick<ListedAccount, 'limits'>) {
  const { minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs } = usage;
  return {
    minute: toWindow(limits.perMinute, minuteUsed, minuteEndsAtMs),
    day: toWindow(limits.perDay, dayUsed, dayEndsAtMs),
  };
}

function toWindow(limit: number, used: number, endsAtMs: number): WindowState {
  return { limit, used, remaining: Math.max(0, limit - used), resetAtMs: used === 0 ? null : endsAtMs };
}

function sumUp(hours: readonly UsageHour[]): Omit<UsageHour, 'atMs'> {
  const sum = { requests: 0, refusals: 0, errors: 0 };
  for (const { requests, refusals, errors } of hours) {
    sum.requests += requests;
    sum.refusals += refusals;
    sum.errors += errors;
  }
  return sum;
}
