import { sql } from 'kysely';
import { type Clock, dayMs, hourMs } from '../clock.ts';
import {
  byShape,
  type Database,
  defineTransaction,
  type Steps,
  statement,
  step,
} from '../storage/database.ts';
import { insertRow } from '../storage/insert-row.ts';
import { createRowBuffer, type NamedEntries } from '../storage/row-buffer.ts';

/** Time in ms for which the store keeps hourly counts. */
const usageKeptMs = 7 * dayMs;
/** Maximum number of rows that one statement deletes. */
const deletedRowsMax = 250;

/** Request counts of an account in one hour. */
export interface UsageHour {
  /** The start of the hour in Unix milliseconds. */
  readonly atMs: number;
  /** All requests with a key of the account. */
  readonly requests: number;
  /** Requests that a limit or a ban refused (429). */
  readonly refusals: number;
  /** Requests with any other status of 400 or higher. */
  readonly errors: number;
}

/**
 * Counts the requests of accounts in memory. `flush` adds the counts to the stored counts, which are the sums over all
 * instances.
 */
export type UsageCounts = ReturnType<typeof createUsageCounts>;

/** Creates counts by account and hour. If the process is killed, the counts since the last flush are lost. */
export function createUsageCounts(database: Database, clock: Clock) {
  const buffer = createRowBuffer(database, addHours, addUp);

  return {
    /** Counts a request by its status. */
    note({ accountId }: { readonly accountId: bigint }, status: number): void {
      const nowMs = clock();
      const hourAtMs = nowMs - (nowMs % hourMs);
      buffer.add(`${accountId} ${hourAtMs}`, {
        account_id: accountId,
        hour_at_ms: BigInt(hourAtMs),
        requests: 1n,
        refusals: status === 429 ? 1n : 0n,
        errors: status >= 400 && status !== 429 ? 1n : 0n,
      });
    },

    /** Writes the counts. If a write fails, throws AppError `unavailable` and keeps what is not written yet. */
    flush: buffer.flush,

    /** Deletes hours older than `usageKeptMs`, in statements of at most `deletedRowsMax` rows. */
    async sweep(): Promise<void> {
      const old = { beforeMs: BigInt(clock() - usageKeptMs - hourMs), count: BigInt(deletedRowsMax) };
      while ((await database.run(deleteOldHours, old)).length === deletedRowsMax);
    },
  };
}

function addUp(earlier: HourRow, later: HourRow): HourRow {
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
  return rows.map((row) => ({
    atMs: Number(row.hour_at_ms),
    requests: Number(row.requests),
    refusals: Number(row.refusals),
    errors: Number(row.errors),
  }));
}

/** The counts by which accounts are ordered. */
export const usageOrders = ['requests', 'refused', 'errors'] as const;

/** One of `usageOrders`. */
export type UsageOrder = (typeof usageOrders)[number];

/** Request counts of an account, summed over hours. `refused` are requests that a limit or a ban refused (429). */
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
  const range = { sinceMs: BigInt(sinceMs - (sinceMs % hourMs)), count: BigInt(limit) };
  const rows = await database.read(selectByAccount({ order }), range);
  return rows.map((row) => ({ account: row.account, ...toCounts(row) }));
}

/** Returns the counts of these accounts since the hour of `sinceMs`, by account id. Accounts without requests are absent. */
export async function sumUsage(database: Database, sinceMs: number, accountIds: readonly bigint[]) {
  const range = { sinceMs: BigInt(sinceMs - (sinceMs % hourMs)), ids: `[${accountIds.join()}]` };
  const rows = await database.read(selectSums, range);
  return new Map(rows.map((row) => [row.account_id, toCounts(row)]));
}

function toCounts(row: Readonly<Record<UsageOrder, bigint>>): Readonly<Record<UsageOrder, number>> {
  return { requests: Number(row.requests), refused: Number(row.refused), errors: Number(row.errors) };
}

const sums = [
  sql<bigint>`cast(sum(requests) as bigint)`.as('requests'),
  sql<bigint>`cast(sum(refusals) as bigint)`.as('refused'),
  sql<bigint>`cast(sum(errors) as bigint)`.as('errors'),
] as const;

const selectSums = statement<{ sinceMs: bigint; ids: string }>()((query, p, { isAmong }) =>
  query
    .selectFrom('usage_hours')
    .select(['account_id', ...sums])
    .where(isAmong('account_id', p.ids))
    .where('hour_at_ms', '>=', p.sinceMs)
    .groupBy('account_id'),
);

const selectByAccount = byShape(({ order }: { readonly order: UsageOrder }) =>
  statement<{ sinceMs: bigint; count: bigint }>()((query, p) =>
    query
      .selectFrom('usage_hours')
      .innerJoin('accounts', 'accounts.id', 'usage_hours.account_id')
      .select(['accounts.name as account', ...sums])
      .where('hour_at_ms', '>=', p.sinceMs)
      .groupBy(['accounts.id', 'accounts.name'])
      .orderBy(sql.id(order), 'desc')
      .orderBy('accounts.id')
      .limit(p.count),
  ),
);

/** Adds the counts to the stored row of the account and the hour. If there is no such row, inserts the row. */
const addHour = insertRow('usage_hours', ['account_id', 'hour_at_ms', 'requests', 'refusals', 'errors'], {
  on: ['account_id', 'hour_at_ms'],
  replace: [],
  add: ['requests', 'refusals', 'errors'],
});

type HourRow = Parameters<typeof addHour.build>[1];

/** Adds the counts of one instance. */
export const addHours = defineTransaction(
  'addHours',
  function* (rows: NamedEntries<HourRow>): Steps<void> {
    for (const [, row] of rows) yield* step(addHour, row);
  },
  'row locks',
);

const selectHours = statement<{ accountId: bigint; sinceMs: bigint }>()((query, p) =>
  query
    .selectFrom('usage_hours')
    .select(['hour_at_ms', 'requests', 'refusals', 'errors'])
    .where('account_id', '=', p.accountId)
    .where('hour_at_ms', '>=', p.sinceMs)
    .orderBy('hour_at_ms'),
);

/** Deletes at most `count` hours that began before `beforeMs`, oldest first. */
const deleteOldHours = statement<{ beforeMs: bigint; count: bigint }>()((query, p) =>
  query
    .deleteFrom('usage_hours')
    .where(
      sql<boolean>`(account_id, hour_at_ms) in (select account_id, hour_at_ms from usage_hours
        where hour_at_ms < ${p.beforeMs} order by hour_at_ms, account_id limit ${p.count})`,
    )
    .returning('hour_at_ms'),
);
