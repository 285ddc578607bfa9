import { sql } from 'kysely';
import { type Clock, dayMs, hourMs } from '../clock.ts';
import {
  type Database,
  lastStep,
  type Steps,
  statement,
  together,
  transaction,
} from '../storage/database.ts';
import { deletesOld } from '../storage/delete-old.ts';
import { erase } from '../storage/erase.ts';
import { insertRow, isOfNoDeletedAccount } from '../storage/insert-row.ts';
import { createRowBuffer, type NamedEntries } from '../storage/row-buffer.ts';
import { deleteOldDays, usageDaysKeptMs } from './usage-days.ts';

/** Time in ms for which the store keeps the counts of hours. */
const usageKeptMs = 7 * dayMs;

/** Request counts of an account in one hour. */
export interface UsageHour {
  /** The start of the hour in Unix milliseconds. */
  readonly atMs: number;
  requests: number;
  /** Requests that a limit or a ban refused (429). */
  refusals: number;
  /** Requests with any other status of 400 or higher. */
  errors: number;
}

type AccountHour = UsageHour & { readonly accountId: bigint };

/** Counts the requests of accounts in memory. `flush` adds them to the sums over all instances. */
export type UsageCounts = ReturnType<typeof createUsageCounts>;

/** Creates counts by account and hour. If the process is killed, the counts since the last flush are lost. */
export function createUsageCounts(database: Database, clock: Clock) {
  const { waiting, flush } = createRowBuffer(database, addHours, addUp);

  return {
    note({ accountId }: { readonly accountId: bigint }, status: number): void {
      const atMs = startOfHour(clock());
      const name = `${accountId} ${atMs}`;
      let hour = waiting.get(name);
      if (hour === undefined) {
        hour = { accountId, atMs, requests: 0, refusals: 0, errors: 0 };
        waiting.set(name, hour);
      }
      hour.requests += 1;
      if (status === 429) hour.refusals += 1;
      else if (status >= 400) hour.errors += 1;
    },

    /** Writes the counts. If a write fails, throws AppError `unavailable` and keeps what is not written yet. */
    flush,

    /** Deletes the hours and the days that are too old. */
    async sweep(): Promise<void> {
      await deleteOldHours(database, clock() - usageKeptMs - hourMs);
      await deleteOldDays(database, clock() - usageDaysKeptMs - dayMs);
    },
  };
}

const startOfHour = (atMs: number) => atMs - (atMs % hourMs);

/** Returns the sums of the counts. All else is that of `earlier`. */
export function addUp<Hour extends Omit<UsageHour, 'atMs'>>(earlier: Hour, later: typeof earlier): Hour {
  return {
    ...earlier,
    requests: earlier.requests + later.requests,
    refusals: earlier.refusals + later.refusals,
    errors: earlier.errors + later.errors,
  };
}

/** Returns the hours of an account within `usageKeptMs`, oldest first. Hours without requests are absent. */
export async function listUsage(database: Database, accountId: bigint, nowMs: number): Promise<UsageHour[]> {
  const sinceMs = BigInt(nowMs - usageKeptMs);
  const rows = await database.read(selectHours, { accountId, sinceMs });
  return rows.map(toNumbers);
}

/** The counts by which accounts are ordered. `refused` are requests that a limit or a ban refused (429). */
export const usageOrders = ['requests', 'refused', 'errors'] as const;

export type UsageOrder = (typeof usageOrders)[number];

export interface AccountUsage extends Readonly<Record<UsageOrder, number>> {
  readonly account: string;
}

/** Returns the `limit` accounts with the highest counts since the hour of `sinceMs`, highest first. */
export async function listUsageByAccount(
  database: Database,
  sinceMs: number,
  order: UsageOrder,
  limit: number,
): Promise<AccountUsage[]> {
  const range = { sinceMs: BigInt(startOfHour(sinceMs)), count: BigInt(limit) };
  const rows = await database.read(selectByAccount[order], range);
  return rows.map(({ account, ...counts }) => ({ account, ...toNumbers(counts) }));
}

/** Returns the counts of these accounts since the hour of `sinceMs`, by account id. Accounts without requests are absent. */
export async function sumUsage(database: Database, sinceMs: number, accountIds: readonly bigint[]) {
  const range = { sinceMs: BigInt(startOfHour(sinceMs)), ids: `[${accountIds.join()}]` };
  const rows = await database.read(selectSums, range);
  return new Map(rows.map(({ account_id, ...counts }) => [account_id, toNumbers(counts)]));
}

function toNumbers<Name extends string>(row: Readonly<Record<Name, bigint>>): Record<Name, number> {
  const entries = Object.entries<bigint>(row).map(([name, value]) => [name, Number(value)]);
  return Object.fromEntries(entries);
}

const sums = [
  sql<bigint>`cast(sum(requests) as bigint)`.as('requests'),
  sql<bigint>`cast(sum(refusals) as bigint)`.as('refused'),
  sql<bigint>`cast(sum(errors) as bigint)`.as('errors'),
] as const;

const selectSums = statement((query, p: { sinceMs: bigint; ids: string }, { isAmong }) =>
  query
    .selectFrom('usage_hours')
    .select(['account_id', ...sums])
    .where(isAmong('account_id', p.ids))
    .where('hour_at_ms', '>=', p.sinceMs)
    .groupBy('account_id'),
);

const selectOrderedBy = (order: UsageOrder) =>
  statement((query, p: { sinceMs: bigint; count: bigint }) =>
    query
      .selectFrom('usage_hours')
      .innerJoin('accounts', 'accounts.id', 'usage_hours.account_id')
      .select(['accounts.name as account', ...sums])
      .where('hour_at_ms', '>=', p.sinceMs)
      .groupBy(['accounts.id', 'accounts.name'])
      .orderBy(sql.id(order), 'desc')
      .orderBy('accounts.id')
      .limit(p.count),
  );

const selectByAccount = {
  requests: selectOrderedBy('requests'),
  refused: selectOrderedBy('refused'),
  errors: selectOrderedBy('errors'),
};

/**
 * Adds the counts to the stored row of the account and the hour. If there is none, inserts one, unless it is deleted. A
 * trigger adds the counts to the row of the day: `usage_hours_added` on SQLite, `add_usage_days` on PostgreSQL.
 */
const addHour = insertRow(
  'usage_hours',
  ['account_id', 'hour_at_ms', 'requests', 'refusals', 'errors'],
  { on: ['account_id', 'hour_at_ms'], replace: [], add: ['requests', 'refusals', 'errors'] },
  ({ account_id }) => isOfNoDeletedAccount(account_id),
);

export const addHours = transaction(
  'addHours',
  'row locks',
  function* (hours: NamedEntries<AccountHour>): Steps<void> {
    const steps = hours.map(([, { accountId, atMs, requests, refusals, errors }]) =>
      lastStep(addHour, {
        account_id: accountId,
        hour_at_ms: BigInt(atMs),
        requests: BigInt(requests),
        refusals: BigInt(refusals),
        errors: BigInt(errors),
      }),
    );
    yield* together(...steps);
  },
);

const selectHours = statement((query, p: { accountId: bigint; sinceMs: bigint }) =>
  query
    .selectFrom('usage_hours')
    .select(['hour_at_ms as atMs', 'requests', 'refusals', 'errors'])
    .where('account_id', '=', p.accountId)
    .where('hour_at_ms', '>=', p.sinceMs)
    .orderBy('hour_at_ms'),
);

const deleteOldHours = deletesOld('usage_hours', ['account_id', 'hour_at_ms'], 'hour_at_ms');

export const eraseUsage = erase('usage_hours', (p) => sql`account_id = ${p.accountId}`);
