import { performance } from 'node:perf_hooks';
import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';

/** Is told of calls once they have ended, with how long they took in milliseconds, waiting included. Nothing in it may throw. */
export interface CallWatcher {
  /** What was read by `readNow` has no time: it takes less than to ask the clock how long. */
  succeed(ms: number | null): void;
  /** `failure`: why the store could not do it at the time; null for any other error, which is none of the store's. */
  fail(failure: AppError | null, ms: number | null): void;
}

/** Is told of the calls of a store; a write ends when it is durable. */
export interface StoreWatcher {
  readonly read: CallWatcher;
  readonly write: CallWatcher;
}

/** A database whose calls are watched. Watchers are told beside whoever waits for a promise, whose answer they do not hold up. */
export function watchCalls(database: Database, watchers: readonly StoreWatcher[]): Database {
  const reads = joinWatchers(watchers.map(({ read }) => read));
  const writes = joinWatchers(watchers.map(({ write }) => write));
  return {
    ...database,
    read: watchRead(database, reads),
    readNow: watchReadNow(database, reads),
    run: (statement, parameters) => watch(writes, () => database.run(statement, parameters)),
    transact: (work, input) => watch(writes, () => database.transact(work, input)),
  };
}

function joinWatchers(watchers: readonly CallWatcher[]): CallWatcher {
  return {
    succeed(ms) {
      for (const watcher of watchers) watcher.succeed(ms);
    },
    fail(failure, ms) {
      for (const watcher of watchers) watcher.fail(failure, ms);
    },
  };
}

function watch<T>(watcher: CallWatcher, call: () => Promise<T>): Promise<T> {
  const startedAtMs = performance.now();
  const outcome = call();
  watchOutcome(watcher, outcome, startedAtMs);
  return outcome;
}

function watchOutcome(watcher: CallWatcher, outcome: Promise<unknown>, startedAtMs: number): void {
  outcome.then(
    () => watcher.succeed(performance.now() - startedAtMs),
    (error) => watcher.fail(asFailure(error), performance.now() - startedAtMs),
  );
}

function watchRead({ read }: Database, watcher: CallWatcher): Database['read'] {
  return (statement, parameters) => {
    const startedAtMs = performance.now();
    try {
      const rows = read(statement, parameters);
      if (rows instanceof Promise) watchOutcome(watcher, rows, startedAtMs);
      else watcher.succeed(performance.now() - startedAtMs);
      return rows;
    } catch (error) {
      watcher.fail(asFailure(error), performance.now() - startedAtMs);
      throw error;
    }
  };
}

/** Without a function for each call, as it is made for nearly each request. */
function watchReadNow({ readNow }: Database, watcher: CallWatcher): Database['readNow'] {
  if (readNow === null) return null;
  return (statement, parameters) => {
    try {
      const rows = readNow(statement, parameters);
      watcher.succeed(null);
      return rows;
    } catch (error) {
      watcher.fail(asFailure(error), null);
      throw error;
    }
  };
}

function asFailure(error: unknown): AppError | null {
  return error instanceof AppError && error.code === 'unavailable' ? error : null;
}
