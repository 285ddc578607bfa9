import { sql } from 'kysely';
import { dayMs } from '../clock.ts';
import { byFilters, type Database, type RowOf, statement } from '../storage/database.ts';
import { deletesOld } from '../storage/delete-old.ts';
import { erase } from '../storage/erase.ts';
import type { Page } from '../storage/read-page.ts';

/** Time in ms for which the store keeps the counts of days: 397 days, the longest that 13 months can be. */
export const usageDaysKeptMs = 397 * dayMs;

/** Returns the start of a day in UTC, in Unix milliseconds. */
const startOfDay = (atMs: number) => atMs - (atMs % dayMs);

/** Returns the days of an account within `usageDaysKeptMs`, oldest first. Days without requests are absent. */
export async function listUsageDays(database: Database, accountId: bigint, nowMs: number) {
  const sinceMs = BigInt(nowMs - usageDaysKeptMs - dayMs);
  const rows = await database.read(selectDaysOfAccount, { accountId, sinceMs });
  return rows.map(({ day_at_ms: atMs, requests, refusals, errors }) => ({
    /** The start of the day in UTC, in Unix milliseconds. */
    atMs: Number(atMs),
    requests: Number(requests),
    /** Requests that a limit or a ban refused (429). */
    refusals: Number(refusals),
    /** Requests with any other status of 400 or higher. */
    errors: Number(errors),
  }));
}

/** The place of a row in the list of all days. */
export interface DayPosition {
  /** The start of the day in Unix milliseconds. */
  readonly atMs: number;
  readonly accountId: bigint;
}

/** The days of one account or of all accounts. Absent or null: all. */
export interface DayQuery {
  readonly accountId?: bigint | null | undefined;
  /** Unix milliseconds. The day of this time counts as a whole. */
  readonly sinceMs?: number | null | undefined;
  /** Unix milliseconds. The list has only days that begin earlier. */
  readonly untilMs?: number | null | undefined;
  readonly limit: number;
  /** The first row of the page. Absent or null: the newest. */
  readonly first?: DayPosition | null | undefined;
}

/** The counts of an account on one day. */
export type AccountDay = ReturnType<typeof toAccountDay>;

/** Returns a page of the stored days, newest first, and the accounts of a day from the newest account on. */
export async function readDayPage(
  database: Database,
  query: DayQuery,
): Promise<Page<AccountDay, DayPosition>> {
  const { accountId = null, sinceMs, untilMs, limit, first } = query;
  const rows = await database.read(selectDays, {
    accountId,
    sinceMs: sinceMs == null ? null : BigInt(startOfDay(sinceMs)),
    untilMs: untilMs == null ? null : BigInt(untilMs),
    firstMs: first == null ? null : BigInt(first.atMs),
    firstId: first?.accountId ?? 0n,
    count: BigInt(limit) + 1n,
  });
  const next = rows[limit];
  return {
    items: rows.slice(0, limit).map(toAccountDay),
    next: next === undefined ? null : { atMs: Number(next.day_at_ms), accountId: next.account_id },
  };
}

/** Yields the days that `readDayPage` lists, page by page, at most `limit` in all. */
export async function* listDays(database: Database, { limit, ...query }: DayQuery) {
  let first: DayPosition | null = null;
  for (let left = limit; left > 0; left -= pageRows) {
    const page: Page<AccountDay, DayPosition> = await readDayPage(database, {
      ...query,
      limit: Math.min(left, pageRows),
      first,
    });
    yield page.items;
    first = page.next;
    if (first === null) return;
  }
}

/** Maximum number of rows that `listDays` has in memory. */
const pageRows = 1_000;

function toAccountDay(row: RowOf<typeof selectDays>) {
  return {
    /** Such as `2027-01-11`, in UTC. */
    day: new Date(Number(row.day_at_ms)).toISOString().slice(0, 10),
    account: row.account,
    requests: Number(row.requests),
    /** Requests that a limit or a ban refused (429). */
    refused: Number(row.refused),
    /** Requests with any other status of 400 or higher. */
    errors: Number(row.errors),
  };
}

type Filter = { accountId: bigint; sinceMs: bigint; untilMs: bigint; firstMs: bigint };

const selectDays = byFilters(
  ['accountId', 'sinceMs', 'untilMs', 'firstMs'],
  (query, p: Filter & { firstId: bigint; count: bigint }, set) =>
    query
      .selectFrom('usage_days')
      .innerJoin('accounts', 'accounts.id', 'usage_days.account_id')
      .select(['day_at_ms', 'account_id', 'accounts.name as account'])
      .select(['requests', 'refusals as refused', 'errors'])
      .$if(set.accountId, (days) => days.where('account_id', '=', p.accountId))
      .$if(set.sinceMs, (days) => days.where('day_at_ms', '>=', p.sinceMs))
      .$if(set.untilMs, (days) => days.where('day_at_ms', '<', p.untilMs))
      .$if(set.firstMs, (days) =>
        days.where(sql<boolean>`(day_at_ms, account_id) <= (${p.firstMs}, ${p.firstId})`),
      )
      .orderBy('day_at_ms', 'desc')
      .orderBy('account_id', 'desc')
      .limit(p.count),
);

const selectDaysOfAccount = statement((query, p: { accountId: bigint; sinceMs: bigint }) =>
  query
    .selectFrom('usage_days')
    .select(['day_at_ms', 'requests', 'refusals', 'errors'])
    .where('account_id', '=', p.accountId)
    .where('day_at_ms', '>=', p.sinceMs)
    .orderBy('day_at_ms'),
);

/** Deletes the days that began before a time. */
export const deleteOldDays = deletesOld('usage_days', ['account_id', 'day_at_ms'], 'day_at_ms');

/** Erases the counts of days of a deleted account. */
export const eraseUsageDays = erase('usage_days', (p) => sql`account_id = ${p.accountId}`);
