import { type Counter, collectDefaultMetrics, Registry } from 'prom-client';

/** The prefix of the service's own metrics. Process metrics begin with `nodejs_` and `process_`. */
const prefix = 'animal_store_';

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** The suffix of the name in a histogram: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
}

export interface Exposition {
  /** The name without the prefix. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
}

/** Creates the registry of `/metrics`, with prom-client's metrics of the process. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * Registers a metric. `collect` returns its samples at each scrape. The service counts with plain numbers, because
 * prom-client looks up the labels at each increment, which takes a microsecond.
 */
export function expose(
  registry: Registry,
  { name, type, help }: Exposition,
  collect: () => Iterable<Sample>,
): void {
  const fullName = prefix + name;
  const metric = {
    name: fullName,
    get: async () => ({
      name: fullName,
      type,
      help,
      values: Array.from(collect(), ({ labels, value, suffix = '' }) => ({
        labels,
        value,
        metricName: fullName + suffix,
      })),
    }),
  };
  // The registry uses only these two members of a metric.
  registry.registerMetric(metric as unknown as Counter);
}
