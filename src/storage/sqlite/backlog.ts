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

/** The jobs that wait to begin, in their order. A job that waits too long fails with `unavailable`. */
export interface Backlog {
  readonly length: number;
  /** When the first job arrived; null if there is none. */
  readonly oldestAtMs: number | null;
  /** The error of a lock that another process has; null if none had it at the last attempt. */
  readonly heldUpBy: Error | null;
  /** Adds a new job. Throws `unavailable` if the backlog is full. */
  add(job: Job): void;
  /** Takes all jobs. While another process has the lock, takes only the first, to try the lock with it. */
  take(): Job[];
  /** Puts jobs that did not get the lock back to the front, and notes the error of the lock. */
  putBack(jobs: readonly Job[], heldUpBy: Error | null): void;
  /** From now on jobs wait at most `drainWaitMsMax`. */
  hurry(): void;
}

/** How long a job may wait to begin before it is withdrawn with `unavailable`. */
export const writeWaitMsMax = 10_000;
/** The same while the store closes. */
const drainWaitMsMax = 500;
/** How many jobs may wait at once. Beyond, a new one fails at once with `unavailable`. */
export const waitingWorksMax = 10_000;

/** An empty backlog. */
export function createBacklog(): Backlog {
  let waiting: Job[] = [];
  let lock: Error | null = null;
  let waitMsMax = writeWaitMsMax;
  let expiry: NodeJS.Timeout | undefined;

  /** Withdraws the jobs that have waited too long, and sets the timer for the next one. */
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
