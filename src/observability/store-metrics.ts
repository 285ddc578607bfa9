import { performance } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import { AppError } from '../errors.ts';
import type { Database } from '../storage/database.ts';
import { createDurations, type Durations, exposeDurations } from './durations.ts';
import { expose } from './metrics.ts';

interface Calls {
  readonly durations: Durations;
  failures: number;
}

/**
 * A database that also shows how long its reads and writes took, waiting included, and how many it could not do. A
 * write ends when it is durable. What is read within the call (`readNow`) is counted where it fails, and not timed: it
 * takes less than to ask the clock how long.
 */
export function timeDatabase(database: Database, registry: Registry): Database {
  const calls = {
    read: { durations: createDurations(), failures: 0 },
    write: { durations: createDurations(), failures: 0 },
  };
  const listed = Object.entries(calls);

  exposeDurations(
    registry,
    {
      name: 'store_duration_seconds',
      help: 'How long calls of the store took; a write until it is durable.',
    },
    () => listed.map(([call, { durations }]) => [{ call }, durations]),
  );
  expose(
    registry,
    {
      name: 'store_failures_total',
      type: 'counter',
      help: 'Calls that the store could not do at the time.',
    },
    () => listed.map(([call, { failures }]) => ({ labels: { call }, value: failures })),
  );

  /** Beside whoever waits for the call, whose answer it does not hold up. Nothing in it may throw: nobody would catch it. */
  function time<T>(call: Calls, action: () => Promise<T>): Promise<T> {
    const startedAtMs = performance.now();
    const outcome = action();
    const noteEnd = () => call.durations.note(performance.now() - startedAtMs);
    outcome.then(noteEnd, (error) => {
      noteEnd();
      noteFailure(call, error);
    });
    return outcome;
  }

  const { readNow } = database;
  return {
    ...database,
    readNow:
      readNow &&
      ((statement, parameters) => {
        try {
          return readNow(statement, parameters);
        } catch (error) {
          noteFailure(calls.read, error);
          throw error;
        }
      }),
    read: (statement, parameters) => time(calls.read, () => database.read(statement, parameters)),
    run: (statement, parameters) => time(calls.write, () => database.run(statement, parameters)),
    transact: (work) => time(calls.write, () => database.transact(work)),
  };
}

function noteFailure(call: Calls, error: unknown): void {
  if (error instanceof AppError && error.code === 'unavailable') call.failures += 1;
}
