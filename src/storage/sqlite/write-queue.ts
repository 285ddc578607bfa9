import { performance } from 'node:perf_hooks';
import type { ConnectionCounts } from '../database.ts';
import { storeOverloaded, storeUnavailable } from '../store-errors.ts';
import type { Job } from './batch.ts';
import { isBusy, toStorageError } from './connection.ts';
import { unpackError } from './packed-error.ts';
import type { WritingThread } from './start-thread.ts';

/** The writes of a store that wait for its writing thread. */
export interface WriteQueue {
  /**
   * Resolves to the result of a job when it is durable. Rejects with `unavailable` if `waitingJobsMax` jobs wait, or if
   * the job has not begun after `writeWaitMsMax`.
   */
  add<T>(job: Job): Promise<T>;
  /** Counts the connections of the store: the one that reads, and the one that writes. */
  count(): ConnectionCounts;
  /** Closes the store when all earlier jobs are settled. Later jobs fail with `unavailable`. */
  close(): Promise<void>;
}

/** Time in ms after which a job that has not begun fails with `unavailable`. */
export const writeWaitMsMax = 10_000;
/** The same timeout while the store closes. */
const closingWaitMsMax = 500;
/** Maximum number of waiting jobs. One more job fails at once with `unavailable`. */
export const waitingJobsMax = 10_000;
/** Time in ms until the next attempt while another process has the lock. */
const retryAfterMs = 5;

interface Waiting {
  readonly job: Job;
  readonly sinceMs: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * One commit runs at a time: it takes all jobs that wait, and the next commit takes those that came meanwhile (group
 * commit). While another process has the lock, the jobs wait and are tried again.
 */
export function createWriteQueue(thread: WritingThread): WriteQueue {
  let waiting: Waiting[] = [];
  let running: Promise<void> | null = null;
  let isClosed = false;
  let reason: unknown = new Error('the running commit still waits for the disk');
  let expiry: NodeJS.Timeout | undefined;

  /** Rejects the jobs that have waited too long, and sets the timer for the next job. */
  function withdrawLate(): void {
    clearTimeout(expiry);
    const lastAtMs = performance.now() - (isClosed ? closingWaitMsMax : writeWaitMsMax);
    const late = waiting.findIndex(({ sinceMs }) => sinceMs > lastAtMs);
    for (const { reject } of waiting.splice(0, late < 0 ? waiting.length : late))
      reject(storeUnavailable(reason));
    const [first] = waiting;
    expiry = first && setTimeout(withdrawLate, Math.ceil(first.sinceMs - lastAtMs)).unref();
  }

  async function commitAll(): Promise<void> {
    // The jobs of one turn of the event loop share a commit.
    await new Promise(setImmediate);
    while (waiting.length > 0) await commit(waiting.splice(0));
    running = null;
  }

  async function commit(jobs: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await thread.run(jobs.map(({ job }) => job));
      for (const [place, { resolve, reject }] of jobs.entries()) {
        const outcome = outcomes[place] as (typeof outcomes)[number];
        if ('error' in outcome) reject(toStorageError(unpackError(outcome.error)));
        else resolve(outcome.result as never);
      }
    } catch (error) {
      if (!isBusy(error)) for (const { reject } of jobs) reject(storeUnavailable(error));
      else {
        reason = error;
        waiting = [...jobs, ...waiting];
        withdrawLate();
        await new Promise((resolve) => setTimeout(resolve, retryAfterMs));
      }
    }
  }

  return {
    add: <T>(job: Job) =>
      new Promise<T>((resolve, reject) => {
        if (isClosed) throw storeUnavailable(new Error('the database is closed'));
        if (waiting.length >= waitingJobsMax) throw storeOverloaded();
        waiting.push({ job, sinceMs: performance.now(), resolve, reject });
        expiry ??= setTimeout(withdrawLate, writeWaitMsMax).unref();
        running ??= commitAll();
      }),

    // The reading connection never waits.
    count() {
      const busy = running === null ? 0 : 1;
      return { busy, idle: 2 - busy, waiting: waiting.length };
    },

    async close() {
      if (isClosed) return;
      isClosed = true;
      withdrawLate();
      await running;
      await thread.close();
    },
  };
}
