import { performance } from 'node:perf_hooks';
import { storeOverloaded, storeUnavailable } from '../store-unavailable.ts';
import type { Task } from './calls.ts';

/** A task with the caller who waits for its result. */
export interface Job {
  readonly task: Task;
  readonly queuedAtMs: number;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** The jobs that wait to begin, in the order in which they came. One that waits too long fails with `unavailable`. */
export interface Backlog {
  readonly length: number;
  /** When the first one came; null if there is none. */
  readonly oldestAtMs: number | null;
  /** The error of the lock that another process has; null if none had it the last time. */
  readonly heldUpBy: Error | null;
  /** Adds a job that has just come. Throws `unavailable` if as many wait as may. */
  add(job: Job): void;
  /** Takes them all; while another process has the lock, the first one, to ask for it alone. */
  take(): Job[];
  /** Notes who has the lock, and puts jobs back that could not have it: ahead of those that came later. */
  putBack(jobs: readonly Job[], heldUpBy: Error | null): void;
  /** From now on jobs wait for `drainWaitMsMax` at most. */
  hurry(): void;
}

/** How long a job waits to begin before it is withdrawn and fails with `unavailable`. */
export const writeWaitMsMax = 10_000;
/** The same once the store is to be closed. */
const drainWaitMsMax = 500;
/** How many jobs wait at once; beyond it a new one fails at once with `unavailable`. */
export const waitingWorksMax = 10_000;

/** An empty backlog. */
export function createBacklog(): Backlog {
  let waiting: Job[] = [];
  let lock: Error | null = null;
  let waitMsMax = writeWaitMsMax;
  let expiry: NodeJS.Timeout | undefined;

  /** Withdraws the jobs that have waited too long, and comes again when the next one will have. */
  function withdraw(): void {
    clearTimeout(expiry);
    const lastAtMs = performance.now() - waitMsMax;
    const late = waiting.findIndex(({ queuedAtMs }) => queuedAtMs > lastAtMs);
    const withdrawn = waiting.splice(0, late < 0 ? waiting.length : late);
    const reason = lock ?? new Error('the commit under way still waits for the disk');
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
