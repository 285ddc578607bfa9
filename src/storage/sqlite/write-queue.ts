import { performance } from 'node:perf_hooks';
import type { ConnectionCounts } from '../database.ts';
import { storeOverloaded, storeUnavailable } from '../store-errors.ts';
import type { Job } from './batch.ts';
import { isBusy, toStorageError } from './connection.ts';
import { unpackError } from './packed-error.ts';
import type { WritingAnswer } from './serve-writes.ts';
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
  const line = createLine();
  let isRunning = false;
  let isClosed = false;
  let onIdle: (() => void) | undefined;

  function send(): void {
    const sent = line.takeAll();
    isRunning = sent.length > 0;
    if (!isRunning) onIdle?.();
    else
      thread.send(
        sent.map(({ job }) => job),
        (answer) => receive(sent, answer),
      );
  }

  function receive(sent: readonly Waiting[], answer: WritingAnswer): void {
    const { lockedOut, error } = settle(sent, answer);
    if (lockedOut.length === 0) {
      send();
      return;
    }
    line.putBack(lockedOut, error);
    setTimeout(send, retryAfterMs);
  }

  return {
    add: <T>(job: Job) =>
      new Promise<T>((resolve, reject) => {
        if (isClosed) throw storeUnavailable(new Error('the database is closed'));
        line.add({ job, sinceMs: performance.now(), resolve, reject });
        if (isRunning) return;
        isRunning = true;
        // The jobs of one turn of the event loop share a commit.
        setImmediate(send);
      }),

    // The reading connection never waits.
    count: () => ({ busy: Number(isRunning), idle: 2 - Number(isRunning), waiting: line.count() }),

    async close() {
      if (isClosed) return;
      isClosed = true;
      line.hurry();
      if (isRunning)
        await new Promise<void>((resolve) => {
          onIdle = resolve;
        });
      await thread.close();
    },
  };
}

/** The jobs that have not begun, in their order. A job that waits too long fails. */
function createLine() {
  let waiting: Waiting[] = [];
  let waitMsMax = writeWaitMsMax;
  let reason = new Error('the running commit still waits for the disk');
  let expiry: NodeJS.Timeout | undefined;

  /** Rejects the jobs that have waited too long, and sets the timer for the next job. */
  function withdraw(): void {
    clearTimeout(expiry);
    const lastAtMs = performance.now() - waitMsMax;
    const late = waiting.findIndex(({ sinceMs }) => sinceMs > lastAtMs);
    for (const { reject } of waiting.splice(0, late < 0 ? waiting.length : late))
      reject(storeUnavailable(reason));
    const [first] = waiting;
    expiry = first && setTimeout(withdraw, Math.ceil(first.sinceMs - lastAtMs)).unref();
  }

  return {
    add(one: Waiting): void {
      if (waiting.length >= waitingJobsMax) throw storeOverloaded();
      waiting.push(one);
      expiry ??= setTimeout(withdraw, waitMsMax).unref();
    },
    takeAll: () => waiting.splice(0),
    count: () => waiting.length,
    /** Puts jobs that did not get the lock back to the front. */
    putBack(jobs: readonly Waiting[], lock: Error | null): void {
      reason = lock ?? reason;
      waiting = [...jobs, ...waiting];
      withdraw();
    },
    /** From now on, jobs wait less long. */
    hurry(): void {
      waitMsMax = closingWaitMsMax;
      withdraw();
    },
  };
}

/** Settles jobs with the answer of the thread. Returns those that failed only because the store was locked. */
function settle(
  sent: readonly Waiting[],
  answer: WritingAnswer,
): { lockedOut: readonly Waiting[]; error: Error | null } {
  if ('notDone' in answer) {
    const error = unpackError(answer.notDone);
    if (isBusy(error)) return { lockedOut: sent, error };
    for (const { reject } of sent) reject(toStorageError(error));
    return { lockedOut: [], error: null };
  }
  const lockedOut: Waiting[] = [];
  let lock: Error | null = null;
  for (const [place, waiting] of sent.entries()) {
    const outcome = answer.outcomes[place];
    if (outcome !== undefined && 'result' in outcome) waiting.resolve(outcome.result as never);
    else {
      const error =
        outcome === undefined ? new Error('the writing thread gave no outcome') : unpackError(outcome.error);
      if (isBusy(error)) {
        lockedOut.push(waiting);
        lock = error;
      } else waiting.reject(toStorageError(error));
    }
  }
  return { lockedOut, error: lock };
}
