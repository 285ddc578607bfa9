import { AppError } from '../errors.ts';
import type { Work } from './database.ts';
import { isBusy, type SqliteConnection, toStorageError } from './sqlite-connection.ts';

interface Job {
  readonly work: () => Work<unknown>;
  readonly queuedAtMs: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs works in transactions that the requests of one turn of the event loop share. */
export interface SqliteWriter {
  transact<T>(work: () => Work<T>): Promise<T>;
  /** Waits until everything that was handed over is settled. */
  drain(): Promise<void>;
}

/** How long a work waits for another process that is writing before it fails with `unavailable`. */
export const writeWaitMsMax = 10_000;
/** How many works wait at once; beyond it a new one fails at once with `unavailable`. */
export const waitingWorksMax = 10_000;
const retryAfterMs = 5;

/**
 * A commit waits for the disk (about 200 us), so works that come in one turn share one: each is answered after the
 * commit that holds it. A work that throws is undone alone: the batch is rolled back and each work is run by itself.
 */
export function createSqliteWriter(connection: SqliteConnection): SqliteWriter {
  let waiting: Job[] = [];
  let scheduled = false;
  let onIdle: (() => void)[] = [];

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(commitWaiting);
  }

  function commitWaiting(): void {
    scheduled = false;
    const batch = waiting;
    waiting = [];
    try {
      connection.raw.exec('begin immediate');
    } catch (error) {
      postpone(batch, error);
      return;
    }
    commit(batch);
    if (waiting.length > 0) return;
    for (const resolve of onIdle) resolve();
    onIdle = [];
  }

  function postpone(batch: Job[], error: unknown): void {
    const expired = isBusy(error) ? performance.now() - writeWaitMsMax : Number.POSITIVE_INFINITY;
    waiting = batch.filter((job) => job.queuedAtMs > expired).concat(waiting);
    for (const job of batch) if (job.queuedAtMs <= expired) job.reject(toStorageError(error));
    if (waiting.length === 0) return;
    scheduled = true;
    setTimeout(commitWaiting, retryAfterMs);
  }

  function commit(batch: readonly Job[]): void {
    const results: unknown[] = [];
    try {
      for (const job of batch) results.push(runWork(connection, job.work()));
      connection.raw.exec('commit');
    } catch (error) {
      rollBack();
      settleAlone(batch, error);
      return;
    }
    for (const [index, job] of batch.entries()) job.resolve(results[index] as never);
  }

  function settleAlone(batch: readonly Job[], error: unknown): void {
    const [first, ...rest] = batch;
    if (first === undefined) return;
    if (rest.length === 0) {
      first.reject(toStorageError(error));
      return;
    }
    for (const job of batch) {
      try {
        connection.raw.exec('begin immediate');
        commit([job]);
      } catch (failure) {
        job.reject(toStorageError(failure));
      }
    }
  }

  /** SQLite ends some failed transactions by itself; rolling back again would be an error of its own. */
  function rollBack(): void {
    if (connection.raw.isTransaction) connection.raw.exec('rollback');
  }

  return {
    transact<T>(work: () => Work<T>): Promise<T> {
      if (waiting.length >= waitingWorksMax)
        return Promise.reject(new AppError('unavailable', 'too many writes are waiting; try again'));
      return new Promise<T>((resolve, reject) => {
        waiting.push({ work, queuedAtMs: performance.now(), resolve, reject });
        schedule();
      });
    },
    drain: () =>
      waiting.length === 0 ? Promise.resolve() : new Promise<void>((resolve) => onIdle.push(resolve)),
  };
}

function runWork<T>(connection: SqliteConnection, work: Work<T>): T {
  let next = work.next([]);
  while (!next.done) next = work.next(connection.query(next.value.statement, next.value.parameters));
  return next.value;
}
