import { performance } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import { createDurations, exposeBy, exposeDurations } from './metrics.ts';

/**
 * Called at the end of each store call. `ms` is the duration in ms, including the time in queues. The methods must not
 * throw.
 */
export interface CallWatcher {
  /** `ms` is null for `readNow`, because reading the clock would take longer than the call. */
  succeed(ms: number | null): void;
  /** `failure` is the reason why the store was unavailable. Null if the error has another cause. */
  fail(failure: AppError | null, ms: number | null): void;
}

/** Observes the calls of a store. A write ends when it is durable. */
export interface StoreWatcher {
  readonly read: CallWatcher;
  readonly write: CallWatcher;
}

/** Wraps a database so that watchers see its calls. A watcher never delays the caller. */
export function watchCalls(database: Database, watchers: readonly StoreWatcher[]): Database {
  const reads = joinWatchers(watchers.map(({ read }) => read));
  const writes = joinWatchers(watchers.map(({ write }) => write));
  return {
    ...database,
    read: (statement, parameters) => watch(reads, () => database.read(statement, parameters)),
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
  outcome.then(
    () => watcher.succeed(performance.now() - startedAtMs),
    (error) => watcher.fail(asFailure(error), performance.now() - startedAtMs),
  );
  return outcome;
}

/** Does not create a function per call, because nearly every request calls `readNow`. */
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

/**
 * Exposes the duration of store reads and writes, and the number of calls that failed because the store was
 * unavailable.
 */
export function createStoreMetrics(registry: Registry): StoreWatcher {
  const calls = { read: countCalls(), write: countCalls() };
  const listed = Object.entries(calls);

  const help = 'How long calls of the store took. A write ends when it is durable.';
  exposeDurations(registry, 'store_duration_seconds', help, () =>
    listed.map(([call, { durations }]) => [{ call }, durations]),
  );
  const failuresHelp = 'Calls that failed because the store was unavailable.';
  exposeBy(registry, 'counter', 'store_failures_total', failuresHelp, 'call', () =>
    listed.map(([call, { countFailures }]) => [call, countFailures()]),
  );
  return { read: calls.read.watcher, write: calls.write.watcher };
}

function countCalls() {
  const durations = createDurations();
  let failures = 0;

  const watcher: CallWatcher = {
    succeed(ms) {
      if (ms !== null) durations.note(ms);
    },
    fail(failure, ms) {
      if (ms !== null) durations.note(ms);
      if (failure !== null) failures += 1;
    },
  };
  return { durations, countFailures: () => failures, watcher };
}
