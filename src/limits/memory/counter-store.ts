import { type Clock, minuteMs } from '../../clock.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import type { LookAtUsage } from '../counters.ts';
import { kindOf } from '../rules/address.ts';
import { areEnded, closeEnded, newWindows, type Windows } from '../rules/windows.ts';
import {
  deleteConduct,
  deleteWindows,
  fromConductRow,
  fromWindowsRow,
  selectConduct,
  selectWindows,
  selectWindowsOf,
  toConductRow,
  toWindowsRow,
  writeConduct,
  writeWindows,
} from './counter-rows.ts';
import type { Ledger, Ledgers } from './ledger.ts';
import type { MemoryCounters } from './memory-counters.ts';

/** Maximum number of rows per transaction. SQLite writes 250 rows in about 1 ms. */
const writtenRowsMax = 250;
const readRowsMax = 10_000;
const deletedRowsMax = 1_000n;

/** Keeps the counts and bans of this process in the database, so that they survive a restart. */
export interface CounterStore {
  /** Fills the ledgers with the stored counts and bans that are still valid. Call it once, before the first request. */
  load(): Promise<void>;
  /**
   * Writes the changes since the last flush. Call it twice a second and at shutdown. All calls during a flush share the
   * next flush.
   *
   * Throws AppError `unavailable` if not all changes could be written. The rest waits for the next flush.
   */
  flush(): Promise<void>;
  /** Deletes a bounded number of expired entries from the ledgers and the database. Call it once a second. */
  sweep(): Promise<void>;
}

/** Creates the store of a process's counts. Call `load` before the first request. */
export function createCounterStore(options: {
  counters: MemoryCounters;
  database: Database;
  clock: Clock;
}): CounterStore {
  const { database, clock } = options;
  const { ledgers } = options.counters;
  let running: Promise<unknown> = Promise.resolve();
  let following: Promise<void> | null = null;

  async function writeAll(): Promise<void> {
    following = null;
    const { accounts, addresses, readers, keys } = ledgers;
    for (const ledger of [accounts, addresses, readers])
      await writeChanged(database, ledger, writeWindows, toWindowsRow);
    await writeChanged(database, keys, writeConduct, toConductRow);
  }

  return {
    async load() {
      const nowMs = clock();
      await loadWindows(database, ledgers, nowMs);
      await loadConduct(database, ledgers, nowMs);
    },

    flush() {
      if (following !== null) return following;
      following = running.then(writeAll);
      running = following.catch(() => undefined);
      return following;
    },

    async sweep() {
      const nowMs = clock();
      for (const ledger of Object.values(ledgers)) ledger.sweep(nowMs);
      await database.run(deleteWindows, { ...expiredAt(nowMs), count: deletedRowsMax });
      await database.run(deleteConduct, { untilMs: BigInt(nowMs), count: deletedRowsMax });
    },
  };
}

async function loadWindows(database: Database, ledgers: Ledgers, nowMs: number): Promise<void> {
  const since = expiredAt(nowMs);
  const loaded: [subject: string, windows: Windows][] = [];
  const readPage = (afterSubject: string) =>
    database.read(selectWindows, { ...since, afterSubject, count: BigInt(readRowsMax) });
  for await (const row of readRows(readPage, ({ subject }) => subject)) {
    const windows = fromWindowsRow(row);
    closeEnded(windows, nowMs);
    if (!areEnded(windows, nowMs)) loaded.push([row.subject, windows]);
  }
  // The ledgers drop the addresses seen longest ago. The start of the day window stands for the time of the last
  // request, which is not stored.
  loaded.sort(([, one], [, other]) => one.dayEndsAtMs - other.dayEndsAtMs);
  for (const [subject, windows] of loaded) ledgers[kindOf(subject)].set(subject, windows);
}

async function loadConduct(database: Database, { keys }: Ledgers, nowMs: number): Promise<void> {
  const readPage = (afterKeyId: string) =>
    database.read(selectConduct, { afterKeyId, sinceMs: BigInt(nowMs), count: BigInt(readRowsMax) });
  for await (const row of readRows(readPage, ({ key_id }) => key_id))
    keys.set(row.key_id, fromConductRow(row));
}

async function writeChanged<T, P>(
  database: Database,
  ledger: Ledger<T>,
  write: Transaction<readonly P[], void>,
  toRow: (name: string, entry: T) => P,
): Promise<void> {
  for (const batch of ledger.drainChanged(writtenRowsMax)) {
    // All instances write rows in the same order, so that they do not deadlock.
    const ordered = batch.toSorted(([one], [other]) => (one < other ? -1 : 1));
    const rows = ordered.map(([name, entry]) => toRow(name, entry));
    try {
      await database.transact(write, rows);
    } catch (error) {
      for (const [name] of batch) ledger.markChanged(name);
      throw error;
    }
  }
}

/**
 * Returns the bounds of expired rows for the queries in counter-rows.ts.
 *
 * A minute window may stay open for up to a minute after the day window has reset. The stored end of the day window is
 * then either 0 or a time within the last minute. So the queries allow one more minute after the end of the day window,
 * and also check the end of the minute window.
 */
function expiredAt(nowMs: number) {
  return { dayEndedMs: BigInt(nowMs - minuteMs), minuteEndedMs: BigInt(nowMs) };
}

/** Reads all rows in pages. Each page starts after the last name of the previous page. */
async function* readRows<R>(
  readPage: (afterName: string) => Promise<readonly R[]>,
  nameOf: (row: R) => string,
): AsyncGenerator<R> {
  let last: R | undefined;
  do {
    const rows = await readPage(last === undefined ? '' : nameOf(last));
    yield* rows;
    last = rows.length < readRowsMax ? undefined : rows.at(-1);
  } while (last !== undefined);
}

/**
 * Creates a reader of the stored counts. The stored counts may be up to a second old. While the instances share their
 * counts in Redis, the counts are not in the store.
 */
export function createStoredLook(database: Database, clock: Clock): LookAtUsage {
  return async (subject) => {
    const [row] = await database.read(selectWindowsOf, { subject });
    const windows = row === undefined ? newWindows() : fromWindowsRow(row);
    const atMs = clock();
    closeEnded(windows, atMs);
    return { verdict: 'passed', atMs, ...windows, bannedUntilMs: 0 };
  };
}
