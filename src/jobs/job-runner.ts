import { AppError } from '../errors.ts';
import type { Log } from '../observability/log.ts';

/** Runs jobs in the background. */
export interface JobRunner {
  /**
   * Runs a job every `intervalMs` milliseconds. Skips a run while the previous run is not finished. A failed run is
   * logged, and the next run tries again. If it throws an AggregateError, each of its errors is logged.
   */
  every(intervalMs: number, job: () => Promise<unknown>): void;
  /** Starts no further runs. */
  stop(): void;
}

export function createJobRunner(log: Log): JobRunner {
  const timers = new Set<NodeJS.Timeout>();

  return {
    every(intervalMs, job) {
      let isRunning = false;
      async function run(): Promise<void> {
        if (isRunning) return;
        isRunning = true;
        try {
          await job();
        } catch (error) {
          for (const err of error instanceof AggregateError ? error.errors : [error]) {
            // Faults of the store have their own log lines (store-faults.ts).
            const isKnown = err instanceof AppError && err.code === 'unavailable';
            if (!isKnown) log.error({ err }, 'a background job failed; its next run tries again');
          }
        } finally {
          isRunning = false;
        }
      }
      timers.add(setInterval(run, intervalMs).unref());
    },

    stop() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
