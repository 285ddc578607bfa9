import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import type { Log } from './log.ts';

/** How often a fault that goes on is told again. */
export const repeatAfterMs = 10_000;
/** A store that fails and does what it is asked by turns is not well: this long nothing may have failed. */
export const calmMs = 1_000;

/**
 * Tells in the log when a store begins to fail, every ten seconds while it goes on, and when it is well again: a few
 * lines, however many requests are refused meanwhile. Only calls that fail with `unavailable` are faults.
 */
export interface StoreFaults {
  /** The database, watched. */
  watch(database: Database): Database;
  /** What the store cannot do at the moment, a few words each; empty while it is well. */
  listNotes(): readonly string[];
}

/** `elapsedMs` tells times apart, from any beginning, and does not go back. */
export function createStoreFaults(
  log: Log,
  clock: Clock,
  elapsedMs: () => number = () => performance.now(),
): StoreFaults {
  const reads = watchCalls('read', { log, clock, elapsedMs });
  const writes = watchCalls('written', { log, clock, elapsedMs });
  return {
    watch: (database) => ({
      ...database,
      read: (statement, parameters) => reads.watch(database.read(statement, parameters)),
      readNow: watchReadNow(database, reads),
      run: (statement, parameters) => writes.watch(database.run(statement, parameters)),
      transact: (work) => writes.watch(database.transact(work)),
    }),
    listNotes: () => [reads.note(), writes.note()].filter((note) => note !== null),
  };
}

/** Without a function for each call, as it is made for nearly each request. */
function watchReadNow(
  { readNow }: Database,
  { succeed, fail }: ReturnType<typeof watchCalls>,
): Database['readNow'] {
  if (readNow === null) return null;
  return (statement, parameters) => {
    try {
      const rows = readNow(statement, parameters);
      succeed();
      return rows;
    } catch (error) {
      fail(error);
      throw error;
    }
  };
}

interface Fault {
  readonly since: string;
  readonly startedMs: number;
  lastMs: number;
  toldMs: number;
  failures: number;
  reason: string;
}

/** Watches one kind of calls: what the store could not be, as in `read`. */
function watchCalls(
  what: string,
  { log, clock, elapsedMs }: { log: Log; clock: Clock; elapsedMs: () => number },
) {
  let fault: Fault | null = null;

  function begin(nowMs: number): Fault {
    const since = new Date(clock()).toISOString();
    return { since, startedMs: nowMs, lastMs: nowMs, toldMs: -Infinity, failures: 0, reason: '' };
  }

  function fail(error: unknown): void {
    if (!(error instanceof AppError) || error.code !== 'unavailable') return;
    const nowMs = elapsedMs();
    fault ??= begin(nowMs);
    fault.failures += 1;
    fault.lastMs = nowMs;
    fault.reason = findReason(error);
    if (nowMs - fault.toldMs < repeatAfterMs) return;
    fault.toldMs = nowMs;
    const { since, failures, reason } = fault;
    log.error({ since, failures, reason }, `the store cannot be ${what}: ${reason}`);
  }

  function succeed(): void {
    if (fault === null) return;
    const nowMs = elapsedMs();
    if (nowMs - fault.lastMs < calmMs) return;
    const { since, failures, startedMs } = fault;
    fault = null;
    log.info({ since, failures, ms: Math.round(nowMs - startedMs) }, `the store can be ${what} again`);
  }

  return {
    succeed,
    fail,
    /** Beside whoever waits for the call, whose answer it does not hold up. Neither may throw, as nobody would catch it. */
    watch<T>(outcome: Promise<T>): Promise<T> {
      outcome.then(succeed, fail);
      return outcome;
    },
    note: () => (fault === null ? null : `the store cannot be ${what} since ${fault.since}: ${fault.reason}`),
  };
}

function findReason({ cause, message }: AppError): string {
  return cause instanceof Error && cause.message !== '' ? cause.message : message;
}
