import { type Counter, collectDefaultMetrics, Registry } from 'prom-client';
import manifest from '../../package.json' with { type: 'json' };
import { secondMs } from '../clock.ts';

/** The prefix of the service's own metrics. Process metrics begin with `nodejs_` and `process_`. */
const prefix = 'animal_store_';

/** One value of a metric. `suffix` ends the name in a histogram: `_bucket`, `_sum`, `_count`. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly suffix?: string;
}

/** Gauges of prom-client whose names end like those of counters. */
const misnamed = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** Creates the registry of `/metrics`, with prom-client's metrics of the process. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const labels = { version: manifest.version, node: process.versions.node };
  const help = 'Always 1. The labels are the versions of the service and of Node.js.';
  expose(registry, 'gauge', 'build_info', help, () => [{ labels, value: 1 }]);
  return registry;
}

/**
 * Registers a metric, whose `name` has no prefix. `read` returns its samples at each scrape, or its one value without
 * labels; null if it has none. The service counts with plain numbers, because prom-client looks up the labels at each
 * increment, which takes a microsecond.
 */
export function expose(
  registry: Registry,
  type: 'counter' | 'gauge' | 'histogram',
  name: string,
  help: string,
  read: () => Iterable<Sample> | number | boolean | null,
): void {
  const fullName = prefix + name;
  const list = () =>
    Array.from(toSamples(read()), ({ suffix = '', ...sample }) => ({
      ...sample,
      metricName: fullName + suffix,
    }));
  const metric = { name: fullName, get: async () => ({ name: fullName, type, help, values: list() }) };
  // The registry uses only these two members of a metric.
  registry.registerMetric(metric as unknown as Counter);
}

function toSamples(values: Iterable<Sample> | number | boolean | null): Iterable<Sample> {
  if (values === null) return [];
  return typeof values === 'object' ? values : [{ labels: {}, value: Number(values) }];
}

/** Returns the samples of a metric with one label: the values of the label, each with its number. */
export function labelled(label: string, values: Iterable<readonly [string, number]>): Sample[] {
  return Array.from(values, ([text, value]) => ({ labels: { [label]: text }, value }));
}

/** Upper bounds of the histogram buckets in ms. One more bucket holds longer durations. */
export const durationBoundsMs = [0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000] as const;

export type Durations = ReturnType<typeof createDurations>;

/** Creates an empty histogram. */
export function createDurations() {
  const counts = new Float64Array(durationBoundsMs.length + 1);
  let sumMs = 0;

  return {
    note(ms: number): void {
      let bucket = 0;
      while (ms > (durationBoundsMs[bucket] ?? Number.POSITIVE_INFINITY)) bucket += 1;
      counts[bucket] = (counts[bucket] ?? 0) + 1;
      sumMs += ms;
    },

    count: () => counts.reduce((sum, count) => sum + count),

    /** Returns a histogram in seconds: a cumulative count for each bound, the sum, and the count. */
    listSamples(labels: Sample['labels']): Sample[] {
      let value = 0;
      const buckets = Array.from(counts, (count, bucket) => {
        value += count;
        const boundMs = durationBoundsMs[bucket];
        const le = boundMs === undefined ? '+Inf' : String(boundMs / secondMs);
        return { suffix: '_bucket', labels: { ...labels, le }, value };
      });
      const sum = { suffix: '_sum', labels, value: sumMs / secondMs };
      return [...buckets, sum, { suffix: '_count', labels, value }];
    },
  };
}
