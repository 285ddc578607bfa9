import { type Clock, minuteMs } from '../../clock.ts';
import type { Soon } from '../../soon.ts';
import type { Database, NamedWork } from '../../storage/database.ts';
import { isReader } from '../rules/address.ts';
import { areEnded, closeEnded, type Windows } from '../rules/windows.ts';
import { deleteConduct, fromConductRow, selectConduct, toConductRow, writeConduct } from './conduct-rows.ts';
import type { Ledger, Ledgers } from './ledger.ts';
import type { MemoryCounters } from './memory-counters.ts';
import { deleteWindows, fromWindowsRow, selectWindows, toWindowsRow, writeWindows } from './window-rows.ts';

/** How many rows one transaction writes: about a millisecond of SQLite's work. */
const writtenRowsMax = 250;
const readRowsMax = 10_000;
const deletedRowsMax = 1_000n;

/** Keeps the counts and bans of a process in the database, so that they outlive it (contract section 6). */
export interface CounterStore {
  /** Fills the ledgers with what was kept and is not over; to be called once, before anything is counted. */
  load(): Promise<void>;
  /**
   * Writes what has changed since the last flush and drops what is over, from the ledgers and from the database, a
   * bounded number a call. To be called twice a second and at shutdown; while one flush is running, further calls share
   * the one that follows it. Throws AppError `unavailable` where not all could be written: what was not is kept for
   * the next.
   */
  flush(): Promise<void>;
}

/** A store of the counts of one process in a database; to be loaded before the first request. */
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
    const nowMs = clock();
    const { accounts, addresses, readers, keys } = ledgers;
    for (const ledger of [accounts, addresses, readers, keys]) ledger.sweep(nowMs);
    for (const ledger of [accounts, addresses, readers])
      await writeChanged(database, ledger, writeWindows, toWindowsRow);
    await writeChanged(database, keys, writeConduct, toConductRow);
    await database.run(deleteWindows, { ...overSince(nowMs), count: deletedRowsMax });
    await database.run(deleteConduct, { untilMs: BigInt(nowMs), count: deletedRowsMax });
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
  };
}

async function loadWindows(database: Database, ledgers: Ledgers, nowMs: number): Promise<void> {
  const since = overSince(nowMs);
  const loaded: [subject: string, windows: Windows][] = [];
  const readRun = (afterSubject: string) =>
    database.read(selectWindows, { ...since, afterSubject, count: BigInt(readRowsMax) });
  for await (const rows of readRuns(readRun, ({ subject }) => subject))
    for (const row of rows) {
      const windows = fromWindowsRow(row);
      closeEnded(windows, nowMs);
      if (!areEnded(windows, nowMs)) loaded.push([row.subject, windows]);
    }
  // Addresses make room for others in the order in which their days opened.
  loaded.sort(([, one], [, other]) => one.dayEndsAtMs - other.dayEndsAtMs);
  for (const [subject, windows] of loaded) ledgerOf(ledgers, subject).set(subject, windows);
}

function ledgerOf({ accounts, addresses, readers }: Ledgers, subject: string): Ledger<Windows> {
  if (subject.startsWith('account:')) return accounts;
  return isReader(subject) ? readers : addresses;
}

async function loadConduct(database: Database, { keys }: Ledgers, nowMs: number): Promise<void> {
  const readRun = (afterKeyId: string) =>
    database.read(selectConduct, { afterKeyId, sinceMs: BigInt(nowMs), count: BigInt(readRowsMax) });
  for await (const rows of readRuns(readRun, ({ key_id }) => key_id))
    for (const row of rows) keys.set(row.key_id, fromConductRow(row));
}

async function writeChanged<T, P>(
  database: Database,
  ledger: Ledger<T>,
  write: NamedWork<readonly P[], void>,
  toRow: (name: string, entry: T) => P,
): Promise<void> {
  for (const batch of ledger.drainChanged(writtenRowsMax)) {
    // One order for all instances, so that two of them do not deadlock on the server.
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
 * A minute window may outlive the day window that it was counted with, by less than a minute. A day that is closed
 * meanwhile ends at 0, so that the minute is looked at too; the rows of the others are found by the end of their day.
 */
function overSince(nowMs: number) {
  return { dayEndedMs: BigInt(nowMs - minuteMs), minuteEndedMs: BigInt(nowMs) };
}

/** Run after run; each begins after the name of the last row of the one before it. */
async function* readRuns<R>(
  readRun: (afterName: string) => Soon<readonly R[]>,
  nameOf: (row: R) => string,
): AsyncGenerator<readonly R[]> {
  let last: R | undefined;
  do {
    const rows = await readRun(last === undefined ? '' : nameOf(last));
    yield rows;
    last = rows.length < readRowsMax ? undefined : rows.at(-1);
  } while (last !== undefined);
}
