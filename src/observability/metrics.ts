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

type MetricType = 'counter' | 'gauge' | 'histogram';

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

/** Registers a gauge without labels. `read` returns null if there is no value. */
export function exposeGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => number | boolean | null,
): void {
  expose(registry, 'gauge', name, help, () => {
    const value = read();
    return value === null ? [] : [{ labels: {}, value: Number(value) }];
  });
}

/** Registers a counter without labels. */
export function exposeCounter(registry: Registry, name: string, help: string, read: () => number): void {
  expose(registry, 'counter', name, help, () => [{ labels: {}, value: read() }]);
}

/** Registers a metric with one label. `list` returns the values of the label, each with its number. */
export function exposeBy(
  registry: Registry,
  type: MetricType,
  name: string,
  help: string,
  label: string,
  list: () => Iterable<readonly [string, number]>,
): void {
  expose(registry, type, name, help, () =>
    Array.from(list(), ([text, value]) => ({ labels: { [label]: text }, value })),
  );
}

/**
 * Registers a metric, whose `name` has no prefix. `collect` returns its samples at each scrape. The service counts with
 * plain numbers, because prom-client looks up the labels at each increment, which takes a microsecond.
 */
export function expose(
  registry: Registry,
  type: MetricType,
  name: string,
  help: string,
  collect: () => Iterable<Sample>,
): void {
  const fullName = prefix + name;
  const list = () =>
    Array.from(collect(), ({ suffix = '', ...sample }) => ({ ...sample, metricName: fullName + suffix }));
  const metric = { name: fullName, get: async () => ({ name: fullName, type, help, values: list() }) };
  // The registry uses only these two members of a metric.
  registry.registerMetric(metric as unknown as Counter);
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

    /** Yields a Prometheus histogram in seconds: a cumulative count for each bound, the sum, and the count. */
    *listSamples(labels: Sample['labels']): Iterable<Sample> {
      let value = 0;
      for (const [bucket, count] of counts.entries()) {
        value += count;
        const boundMs = durationBoundsMs[bucket];
        const le = boundMs === undefined ? '+Inf' : String(boundMs / secondMs);
        yield { suffix: '_bucket', labels: { ...labels, le }, value };
      }
      yield { suffix: '_sum', labels, value: sumMs / secondMs };
      yield { suffix: '_count', labels, value };
    },
  };
}

/** Exposes one histogram. Each entry of `list` contributes its durations under its labels. */
export function exposeDurations(
  registry: Registry,
  name: string,
  help: string,
  list: () => Iterable<readonly [labels: Sample['labels'], durations: Durations]>,
): void {
  expose(registry, 'histogram', name, help, function* collect() {
    for (const [labels, durations] of list()) yield* durations.listSamples(labels);
  });
}
