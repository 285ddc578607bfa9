import { isUnavailable } from '../errors.ts';
import type { Log } from '../observability/log.ts';
import type { ClockWatch } from './clock-watch.ts';

/** Work that is done again and again in the background. */
export interface Job {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<unknown>;
  /** Set if the job closes, disables or deletes what is too old. It does not run after a leap of a clock. */
  readonly byAge?: 'closes' | 'deletes';
  /** Time in ms for which a job that deletes does not run after a leap. Default: 10 minutes. */
  readonly keptMs?: number | undefined;
}

export type JobRunner = ReturnType<typeof createJobRunner>;

/** Creates a runner of background jobs. Before each run of a job that acts by age, it asks the clocks. */
export function createJobRunner(log: Log, { mayClose, mayDelete }: ClockWatch) {
  const timers = new Set<NodeJS.Timeout>();

  async function mayRun({ byAge, keptMs }: Job): Promise<boolean> {
    if (byAge === 'deletes') return await mayDelete(keptMs);
    return byAge === undefined || (await mayClose());
  }

  return {
    /** Runs a job every `everyMs` ms, except while its previous run is not finished. A failed run is logged. */
    start(job: Job): void {
      let isRunning = false;
      async function run(): Promise<void> {
        if (isRunning) return;
        isRunning = true;
        try {
          if (await mayRun(job)) await job.run();
        } catch (err) {
          // Faults of the store have their own log lines (store-watch.ts).
          if (isUnavailable(err)) return;
          log.error({ err, job: job.name }, 'a background job failed; its next run tries again');
        } finally {
          isRunning = false;
        }
      }
      timers.add(setInterval(run, job.everyMs).unref());
    },

    stop(): void {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
