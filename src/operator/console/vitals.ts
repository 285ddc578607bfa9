import type { Registry } from 'prom-client';
import { type Clock, secondMs } from '../../clock.ts';

/** How often this instance takes a sample. */
export const noteEveryMs = 10 * secondMs;
/** How many samples it keeps: one hour. */
export const notesMax = 360;

/** What an instance did between two samples. */
export interface Note {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly seconds: number;
  readonly requests: number;
  /** Answered with 429. */
  readonly refused: number;
  /** Answered with 5xx. */
  readonly failed: number;
  /** The median and the 99th percentile of the response times, in milliseconds; null without requests. */
  readonly medianMs: number | null;
  readonly slowMs: number | null;
}

/** The recent traffic of this instance, from its own metrics. */
export interface Vitals {
  /** Takes a sample of what has happened since the last one. */
  note(): Promise<void>;
  /** The samples of the last hour, oldest first. */
  list(): readonly Note[];
  /** The current value of a metric, summed over its labels; null if there is none. */
  readMetric(name: string): Promise<number | null>;
}

interface Totals {
  readonly atMs: number;
  readonly requests: number;
  readonly refused: number;
  readonly failed: number;
  /** How many requests took at most that many seconds. */
  readonly byBound: ReadonlyMap<number, number>;
}

export function createVitals(registry: Registry, clock: Clock): Vitals {
  const notes: Note[] = [];
  let last: Totals | null = null;

  return {
    async note() {
      const totals = await readTotals(registry, clock());
      if (last !== null && totals.atMs > last.atMs) notes.push(compare(last, totals));
      if (notes.length > notesMax) notes.shift();
      last = totals;
    },
    list: () => notes,
    async readMetric(name) {
      const values = await readValues(registry, name);
      return values.length === 0 ? null : values.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

async function readTotals(registry: Registry, atMs: number): Promise<Totals> {
  const totals = { requests: 0, refused: 0, failed: 0 };
  for (const { labels, value } of await readValues(registry, 'requests_total')) {
    const status = Number(labels['status']);
    totals.requests += value;
    if (status === 429) totals.refused += value;
    if (status >= 500) totals.failed += value;
  }
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
    failed: now.failed - before.failed,
    medianMs: findQuantile(counts, 0.5),
    slowMs: findQuantile(counts, 0.99),
  };
}

/** Interpolates within a bucket, as Prometheus does. A value beyond the last bound becomes that bound. */
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
