import { sql } from 'kysely';
import { type Clock, dayMs, hourMs } from '../clock.ts';
import { type Database, defineTransaction, type Steps, statement, step } from '../storage/database.ts';

/** Time in ms for which the store keeps hourly counts. */
const usageKeptMs = 7 * dayMs;
/** Maximum number of rows per transaction. SQLite writes 250 rows in about 1 ms. */
const rowsMax = 250;

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
export interface UsageCounts {
  /** Counts a request by its status. Takes less than a microsecond for a known caller. */
  note(caller: CountedCaller, status: number): void;
  /**
   * Writes the counts. If a write fails, throws AppError `unavailable` and keeps the counts that are not written yet.
   */
  flush(): Promise<void>;
  /** Deletes hours older than `usageKeptMs`, in transactions of at most `rowsMax` rows. */
  sweep(): Promise<void>;
}

/** The caller of a request. Consecutive requests of a caller share the object. */
export interface CountedCaller {
  readonly accountId: bigint;
}

interface Tally {
  readonly accountId: bigint;
  readonly hourAtMs: number;
  requests: number;
  refusals: number;
  errors: number;
}

function createTallies(clock: Clock) {
  /** By account and hour. */
  const tallies = new Map<string, Tally>();
  /** The tally to which the requests of a caller are added. Keyed by object, because a lookup by a text costs more. */
  let byCaller = new WeakMap<CountedCaller, Tally>();
  let hourAtMs = 0;

  function find(accountId: bigint, ofHourAtMs: number): Tally {
    const name = `${accountId} ${ofHourAtMs}`;
    const found = tallies.get(name);
    const tally = found ?? { accountId, hourAtMs: ofHourAtMs, requests: 0, refusals: 0, errors: 0 };
    tallies.set(name, tally);
    return tally;
  }

  return {
    /** Returns the tally of a caller in the present hour. */
    open(caller: CountedCaller): Tally {
      const nowMs = clock();
      if (nowMs - hourAtMs >= hourMs || nowMs < hourAtMs) {
        hourAtMs = nowMs - (nowMs % hourMs);
        byCaller = new WeakMap();
      }
      const known = byCaller.get(caller);
      if (known !== undefined) return known;
      const tally = find(caller.accountId, hourAtMs);
      byCaller.set(caller, tally);
      return tally;
    },
    /** Removes all tallies and returns them, sorted by account and hour. */
    take(): Tally[] {
      const taken = [...tallies.values()].sort(compareTallies);
      tallies.clear();
      byCaller = new WeakMap();
      return taken;
    },
    /** Adds taken tallies to those that began meanwhile. */
    putBack(taken: readonly Tally[]): void {
      for (const { accountId, hourAtMs: ofHourAtMs, requests, refusals, errors } of taken) {
        const tally = find(accountId, ofHourAtMs);
        tally.requests += requests;
        tally.refusals += refusals;
        tally.errors += errors;
      }
    },
  };
}

/** Creates counts by account and hour. If the process is killed, the counts since the last flush are lost. */
export function createUsageCounts(database: Database, clock: Clock): UsageCounts {
  const tallies = createTallies(clock);
  /** Flushes run one after the other, because simultaneous flushes would write the same rows. */
  let running: Promise<void> = Promise.resolve();

  async function writeAll(): Promise<void> {
    const taken = tallies.take();
    try {
      for (; taken.length > 0; taken.splice(0, rowsMax))
        await database.transact(addHours, taken.slice(0, rowsMax).map(toColumns));
    } catch (error) {
      tallies.putBack(taken);
      throw error;
    }
  }

  return {
    note(caller, status) {
      const tally = tallies.open(caller);
      tally.requests += 1;
      if (status === 429) tally.refusals += 1;
      else if (status >= 400) tally.errors += 1;
    },

    flush() {
      running = running.then(writeAll, writeAll);
      return running;
    },

    async sweep() {
      const old = { beforeMs: BigInt(clock() - usageKeptMs - hourMs), count: BigInt(rowsMax) };
      for (;;) {
        const rows = await database.read(selectOldHours, old);
        const hours = rows.map((row) => ({ accountId: row.account_id, hourAtMs: row.hour_at_ms }));
        if (hours.length > 0) await database.transact(deleteHours, hours);
        if (hours.length < rowsMax) return;
      }
    },
  };
}

function compareTallies(one: Tally, other: Tally): number {
  if (one.accountId !== other.accountId) return one.accountId < other.accountId ? -1 : 1;
  return one.hourAtMs - other.hourAtMs;
}

type HourColumns = {
  accountId: bigint;
  hourAtMs: bigint;
  requests: bigint;
  refusals: bigint;
  errors: bigint;
};

function toColumns({ accountId, hourAtMs, requests, refusals, errors }: Tally): HourColumns {
  return {
    accountId,
    hourAtMs: BigInt(hourAtMs),
    requests: BigInt(requests),
    refusals: BigInt(refusals),
    errors: BigInt(errors),
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

/** Request counts of an account, summed over hours. */
export interface AccountUsage {
  readonly account: string;
  readonly requests: number;
  /** Requests that a limit or a ban refused (429). */
  readonly refused: number;
  /** Requests with any other status of 400 or higher. */
  readonly errors: number;
}

/** Returns the `limit` accounts with the highest counts since the hour of `sinceMs`, highest first. */
export async function listUsageByAccount(
  database: Database,
  sinceMs: number,
  order: UsageOrder,
  limit: number,
): Promise<AccountUsage[]> {
  const range = { sinceMs: BigInt(sinceMs - (sinceMs % hourMs)), count: BigInt(limit) };
  const rows = await database.read(selectByAccount[order], range);
  return rows.map((row) => ({
    account: row.account,
    requests: Number(row.requests),
    refused: Number(row.refused),
    errors: Number(row.errors),
  }));
}

/** Returns the counts of these accounts since the hour of `sinceMs`, by account id. Accounts without requests are absent. */
export async function sumUsage(database: Database, sinceMs: number, accountIds: readonly bigint[]) {
  const range = { sinceMs: BigInt(sinceMs - (sinceMs % hourMs)), ids: `[${accountIds.join()}]` };
  const rows = await database.read(selectSums, range);
  return new Map(
    rows.map(({ account_id: id, requests, refused, errors }) => [
      id,
      { requests: Number(requests), refused: Number(refused), errors: Number(errors) },
    ]),
  );
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

const selectByAccount = {
  requests: sumBy('requests'),
  refused: sumBy('refused'),
  errors: sumBy('errors'),
} as const;

function sumBy(order: UsageOrder) {
  return statement<{ sinceMs: bigint; count: bigint }>()((query, p) =>
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
}

/** Adds the counts to the stored row of the account and the hour. If there is no such row, inserts the row. */
const addHour = statement<HourColumns>()((query, p) =>
  query
    .insertInto('usage_hours')
    .values({
      account_id: p.accountId,
      hour_at_ms: p.hourAtMs,
      requests: p.requests,
      refusals: p.refusals,
      errors: p.errors,
    })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'hour_at_ms']).doUpdateSet(({ eb, ref }) => ({
        requests: eb(ref('usage_hours.requests'), '+', ref('excluded.requests')),
        refusals: eb(ref('usage_hours.refusals'), '+', ref('excluded.refusals')),
        errors: eb(ref('usage_hours.errors'), '+', ref('excluded.errors')),
      })),
    ),
);

/** Adds the counts of one instance. `hours` must be sorted by account and hour, so that instances do not deadlock. */
export const addHours = defineTransaction(
  'addHours',
  function* (hours: readonly HourColumns[]): Steps<void> {
    for (const hour of hours) yield* step(addHour, hour);
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

/** Selects at most `count` hours that began before `beforeMs`, oldest first. */
const selectOldHours = statement<{ beforeMs: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('usage_hours')
    .select(['account_id', 'hour_at_ms'])
    .where('hour_at_ms', '<', p.beforeMs)
    .orderBy('hour_at_ms')
    .limit(p.count),
);

const deleteHour = statement<{ accountId: bigint; hourAtMs: bigint }>()((query, p) =>
  query.deleteFrom('usage_hours').where('account_id', '=', p.accountId).where('hour_at_ms', '=', p.hourAtMs),
);

export const deleteHours = defineTransaction(
  'deleteHours',
  function* (hours: readonly { readonly accountId: bigint; readonly hourAtMs: bigint }[]): Steps<void> {
    for (const { accountId, hourAtMs } of hours) yield* step(deleteHour, { accountId, hourAtMs });
  },
  'row locks',
);
