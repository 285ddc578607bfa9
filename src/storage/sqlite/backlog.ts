import { performance } from 'node:perf_hooks';
import { storeOverloaded, storeUnavailable } from '../store-unavailable.ts';
import type { Task } from './calls.ts';

/** A task and the caller that waits for its result. */
export interface Job {
  readonly task: Task;
  readonly queuedAtMs: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** The queue of jobs that wait to begin. A job that waits too long fails with `unavailable`. */
export interface Backlog {
  readonly length: number;
  /** Arrival time of the first job in ms, by `performance.now()`. Null if the queue is empty. */
  readonly oldestAtMs: number | null;
  /** The lock error if another process had the lock at the last attempt, otherwise null. */
  readonly heldUpBy: Error | null;
  /** Adds a job. Throws `unavailable` if `waitingWorksMax` jobs already wait. */
  add(job: Job): void;
  /**
   * Removes and returns all jobs. If another process had the lock at the last attempt, returns only the first job, to
   * try the lock again.
   */
  take(): Job[];
  /**
   * Puts jobs that did not get the lock back to the front of the queue. `heldUpBy` is the lock error, or null if no
   * job failed on the lock.
   */
  putBack(jobs: readonly Job[], heldUpBy: Error | null): void;
  /** From now on, jobs wait at most `drainWaitMsMax`. */
  hurry(): void;
}

/** Time in ms after which a job that has not begun fails with `unavailable`. */
export const writeWaitMsMax = 10_000;
/** The same timeout while the store closes. */
const drainWaitMsMax = 500;
/** Maximum number of waiting jobs. One more job fails at once with `unavailable`. */
export const waitingWorksMax = 10_000;

/** Creates an empty backlog. */
export function createBacklog(): Backlog {
  let waiting: Job[] = [];
  let lock: Error | null = null;
  let waitMsMax = writeWaitMsMax;
  let expiry: NodeJS.Timeout | undefined;

  /** Rejects the jobs that have waited too long, and sets the timer for the next job. */
  function withdraw(): void {
    clearTimeout(expiry);
    const lastAtMs = performance.now() - waitMsMax;
    const late = waiting.findIndex(({ queuedAtMs }) => queuedAtMs > lastAtMs);
    const withdrawn = waiting.splice(0, late < 0 ? waiting.length : late);
    const reason = lock ?? new Error('the running commit still waits for the disk');
    for (const { reject } of withdrawn) reject(storeUnavailable(reason));
    const [first] = waiting;
    expiry = first && setTimeout(withdraw, Math.ceil(first.queuedAtMs - lastAtMs)).unref();
  }

  return {
    get length() {
      return waiting.length;
    },
    get oldestAtMs() {
      return waiting[0]?.queuedAtMs ?? null;
    },
    get heldUpBy() {
      return lock;
    },
    add(job) {
      if (waiting.length >= waitingWorksMax) throw storeOverloaded();
      waiting.push(job);
      expiry ??= setTimeout(withdraw, waitMsMax).unref();
    },
    take() {
      if (waiting.length === 0) lock = null;
      return waiting.splice(0, lock === null ? waiting.length : 1);
    },
    putBack(jobs, heldUpBy) {
      lock = heldUpBy;
      if (jobs.length === 0) return;
      waiting = [...jobs, ...waiting];
      withdraw();
    },
    hurry() {
      waitMsMax = drainWaitMsMax;
      withdraw();
    },
  };
}
