import { type Clock, dayMs, hourMs } from '../clock.ts';
import type { LookAtUsage } from '../limits/counters.ts';
import { type Database, statement } from '../storage/database.ts';
import { listUsage, type UsageHour } from '../usage/usage.ts';
import type { Accounts } from './accounts.ts';

/** A rate limit window of an account. */
export type WindowState = ReturnType<typeof toWindow>;

/** The state of an account, for operators. */
export type AccountState = Awaited<ReturnType<typeof readAccountState>>;

/** Reads the state of an account. Throws OperatorError if the account does not exist. */
export async function readAccountState(
  sources: { database: Database; accounts: Pick<Accounts, 'find'>; look: LookAtUsage; clock: Clock },
  name: string,
) {
  const { database, accounts, look, clock } = sources;
  const { keys: keysTotal, ...account } = await accounts.find(name);
  const { perMinute, perDay } = account.limits;
  const nowMs = clock();
  const [usage, { minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs }, holdsOpen] = await Promise.all([
    listUsage(database, account.id, nowMs),
    look(`account:${account.id}`),
    countOpenHolds(database, account.id),
  ]);
  return {
    ...account,
    minute: toWindow(perMinute, minuteUsed, minuteEndsAtMs),
    day: toWindow(perDay, dayUsed, dayEndsAtMs),
    holdsOpen: Number(holdsOpen),
    /** Number of keys of the account, including expired and revoked keys. */
    keysTotal,
    /** Request counts per hour, oldest first. Hours without requests are absent. */
    usage,
    lastDay: sumUp(usage.filter(({ atMs }) => atMs > nowMs - dayMs - hourMs)),
  };
}

/** Returns the number of holds of an account that are open and have not expired. */
export async function countOpenHolds(database: Database, accountId: bigint): Promise<bigint> {
  const [holds] = await database.read(selectOpenHolds, { accountId });
  return holds?.count ?? 0n;
}

const selectOpenHolds = statement<{ accountId: bigint }>()((query, p, { nowMs }) =>
  query
    .selectFrom('orders')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('account_id', '=', p.accountId)
    .where('closed_at_ms', 'is', null)
    .where('expires_at_ms', '>', nowMs),
);

function toWindow(limit: number, used: number, endsAtMs: number) {
  /** `resetAtMs` is null if the window is not open. */
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
