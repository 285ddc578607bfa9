import type { Registry } from 'prom-client';
import { type Clock, secondMs } from '../../clock.ts';

/** Time in ms between two samples. */
export const noteEveryMs = 10 * secondMs;
/** Maximum number of notes. They cover one hour. */
const notesMax = 360;

/** The traffic of an instance between two samples. */
export interface Note {
  /** The end of the interval, in Unix milliseconds. */
  readonly atMs: number;
  readonly seconds: number;
  readonly requests: number;
  /** Number of requests answered with 429. */
  readonly refused: number;
  /** Number of requests answered with any other 4xx. */
  readonly rejected: number;
  /** Number of requests answered with 5xx. */
  readonly failed: number;
  /** The median of the response times in ms. Null without requests. */
  readonly medianMs: number | null;
  /** The 99th percentile of the response times in ms. Null without requests. */
  readonly slowMs: number | null;
}

/** The recent traffic of this instance, from its own metrics. */
export function createVitals(registry: Registry, clock: Clock) {
  const notes: Note[] = [];
  let last: Totals | null = null;

  return {
    /** Takes a sample, and adds a note about the traffic since the previous sample. */
    async note(): Promise<void> {
      const totals = await readTotals(registry, clock());
      if (last !== null && totals.atMs > last.atMs) notes.push(compare(last, totals));
      if (notes.length > notesMax) notes.shift();
      last = totals;
    },
    /** Returns the notes of the last hour, oldest first. */
    list: (): readonly Note[] => notes,
    /** Returns the current value of a metric, summed over its labels, or null if the metric has no values. */
    async readMetric(name: string): Promise<number | null> {
      const values = await readValues(registry, name);
      return values.length === 0 ? null : values.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

export type Vitals = ReturnType<typeof createVitals>;

type Totals = Awaited<ReturnType<typeof readTotals>>;

async function readTotals(registry: Registry, atMs: number) {
  const totals = { requests: 0, refused: 0, rejected: 0, failed: 0 };
  for (const { labels, value } of await readValues(registry, 'requests_total')) {
    const status = Number(labels['status']);
    totals.requests += value;
    if (status === 429) totals.refused += value;
    else if (status >= 500) totals.failed += value;
    else if (status >= 400) totals.rejected += value;
  }
  /** Maps a bound in seconds to the number of requests that took at most that long. */
  const byBound = new Map<number, number>();
  for (const { labels, value } of await readValues(registry, 'request_duration_seconds')) {
    if (labels['le'] === undefined) continue;
    const bound = labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(labels['le']);
    byBound.set(bound, (byBound.get(bound) ?? 0) + value);
  }
  return { atMs, ...totals, byBound };
}

async function readValues(registry: Registry, name: string) {
  const metric = registry.getSingleMetric(`animal_store_${name}`);
  return metric === undefined ? [] : (await metric.get()).values;
}

function compare(before: Totals, now: Totals): Note {
  const counts = [...now.byBound]
    .map(([bound, count]) => [bound, count - (before.byBound.get(bound) ?? 0)] as const)
    .sort(([one], [other]) => one - other);
  return {
    atMs: now.atMs,
    seconds: (now.atMs - before.atMs) / secondMs,
    requests: now.requests - before.requests,
    refused: now.refused - before.refused,
    rejected: now.rejected - before.rejected,
    failed: now.failed - before.failed,
    medianMs: findQuantile(counts, 0.5),
    slowMs: findQuantile(counts, 0.99),
  };
}

/** Interpolates within a bucket, as Prometheus does. For a value above the last finite bound, returns that bound. */
function findQuantile(counts: readonly (readonly [bound: number, count: number])[], part: number) {
  const total = counts.at(-1)?.[1] ?? 0;
  if (total === 0) return null;
  let lowBound = 0;
  let lowCount = 0;
  for (const [bound, count] of counts) {
    if (count >= total * part) {
      const share = count === lowCount ? 1 : (total * part - lowCount) / (count - lowCount);
      const seconds = Number.isFinite(bound) ? lowBound + (bound - lowBound) * share : lowBound;
      return Math.round(seconds * secondMs * 100) / 100;
    }
    lowBound = bound;
    lowCount = count;
  }
  return lowBound * secondMs;
}
