import { type Clock, dayMs, hourMs } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { addHours, deleteHours, selectHours, selectOldHours } from './usage-rows.ts';

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
  /** True while requests are added to the tally. */
  isOpen: boolean;
  requests: number;
  refusals: number;
  errors: number;
}

function createTallies(clock: Clock) {
  let tallies = new Map<bigint, Tally>();
  /** Keyed by object, because a lookup by bigint takes ten times as long. */
  const byCaller = new WeakMap<CountedCaller, Tally>();
  const closed: Tally[] = [];
  let hourAtMs = 0;

  function close(): void {
    for (const tally of tallies.values()) {
      tally.isOpen = false;
      closed.push(tally);
    }
    tallies = new Map();
  }

  function open(caller: CountedCaller): Tally {
    const { accountId } = caller;
    const none = { isOpen: true, requests: 0, refusals: 0, errors: 0 };
    const tally = tallies.get(accountId) ?? { accountId, hourAtMs, ...none };
    tallies.set(accountId, tally);
    byCaller.set(caller, tally);
    return tally;
  }

  return {
    /** Complete tallies that wait to be written. */
    closed,
    close,
    note(caller: CountedCaller, status: number): void {
      const nowMs = clock();
      if (nowMs - hourAtMs >= hourMs || nowMs < hourAtMs) {
        close();
        hourAtMs = nowMs - (nowMs % hourMs);
      }
      const known = byCaller.get(caller);
      const tally = known?.isOpen ? known : open(caller);
      tally.requests += 1;
      if (status === 429) tally.refusals += 1;
      else if (status >= 400) tally.errors += 1;
    },
  };
}

/** Creates counts by account and hour. If the process is killed, the counts since the last flush are lost. */
export function createUsageCounts(database: Database, clock: Clock): UsageCounts {
  const { note, close, closed } = createTallies(clock);
  /** Flushes run one after the other, because simultaneous flushes would write the same rows. */
  let running: Promise<void> = Promise.resolve();

  /**
   * Writes the closed tallies before it closes the open ones. So while the store is unavailable, at most two closed
   * tallies per account and hour wait.
   */
  async function writeAll(): Promise<void> {
    await writeClosed();
    close();
    await writeClosed();
  }

  async function writeClosed(): Promise<void> {
    closed.sort(compareTallies);
    while (closed.length > 0) {
      const batch = closed.slice(0, rowsMax);
      await database.transact(addHours, batch.map(toColumns));
      closed.splice(0, batch.length);
    }
  }

  return {
    note,

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

function toColumns({ accountId, hourAtMs, requests, refusals, errors }: Tally) {
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
