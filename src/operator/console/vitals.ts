import { createHistogram } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import { type Clock, secondMs } from '../../clock.ts';
import type { RequestObserver } from '../../http/request-log.ts';

export const noteEveryMs = 10 * secondMs;
/** Maximum number of notes. They cover one hour. */
const notesMax = 360;

/** `refused` counts the requests answered with 429, `rejected` any other 4xx, `failed` 5xx. */
const noRequests = { requests: 0, refused: 0, rejected: 0, failed: 0 };

type Note = typeof noRequests & {
  /** The end of the interval, in Unix milliseconds. */
  readonly atMs: number;
  readonly seconds: number;
  /** The median of the response times in ms. Null without requests. */
  readonly medianMs: number | null;
  /** The 99th percentile of the response times in ms. Null without requests. */
  readonly slowMs: number | null;
};

/** The recent traffic of this instance, and the current values of its metrics. */
export function createVitals(registry: Registry, clock: Clock) {
  const notes: Note[] = [];
  /** In whole microseconds. */
  const durations = createHistogram();
  let counts = { ...noRequests };
  let lastAtMs = clock();

  function count(status: number, ms: number): void {
    counts.requests += 1;
    if (status === 429) counts.refused += 1;
    else if (status >= 500) counts.failed += 1;
    else if (status >= 400) counts.rejected += 1;
    durations.record(Math.max(1, Math.round(ms * 1_000)));
  }

  const readPercentile = (percentile: number) =>
    durations.count === 0 ? null : durations.percentile(percentile) / 1_000;

  const observer: RequestObserver = {
    note: (_, status, ms) => count(status, ms),
    noteMalformed: ({ status }) => count(status, 0),
  };

  return {
    observer,
    async note(): Promise<void> {
      const atMs = clock();
      const seconds = (atMs - lastAtMs) / secondMs;
      const times = { medianMs: readPercentile(50), slowMs: readPercentile(99) };
      if (seconds > 0) notes.push({ atMs, seconds, ...counts, ...times });
      if (notes.length > notesMax) notes.shift();
      counts = { ...noRequests };
      durations.reset();
      lastAtMs = atMs;
    },
    /** The notes of the last hour, oldest first. */
    list: (): readonly Note[] => notes,
    /** Returns the current value of a metric, summed over its labels, or null if the metric has no values. */
    async readMetric(name: string): Promise<number | null> {
      const values = (await registry.getSingleMetric(`animal_store_${name}`)?.get())?.values ?? [];
      return values.length === 0 ? null : values.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

export type Vitals = ReturnType<typeof createVitals>;
