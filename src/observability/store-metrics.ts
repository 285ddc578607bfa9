import type { Registry } from 'prom-client';
import { createDurations, exposeDurations } from './durations.ts';
import { expose } from './metrics.ts';
import type { CallWatcher, StoreWatcher } from './watch-calls.ts';

/**
 * Exposes the duration of store reads and writes, and the number of calls that failed because the store was
 * unavailable.
 */
export function createStoreMetrics(registry: Registry): StoreWatcher {
  const calls = { read: countCalls(), write: countCalls() };
  const listed = Object.entries(calls);

  exposeDurations(
    registry,
    {
      name: 'store_duration_seconds',
      help: 'How long calls of the store took. A write ends when it is durable.',
    },
    () => listed.map(([call, { durations }]) => [{ call }, durations]),
  );
  expose(
    registry,
    {
      name: 'store_failures_total',
      type: 'counter',
      help: 'Calls that failed because the store was unavailable.',
    },
    () => listed.map(([call, { countFailures }]) => ({ labels: { call }, value: countFailures() })),
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
