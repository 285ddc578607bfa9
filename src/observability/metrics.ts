import { type Counter, collectDefaultMetrics, Registry } from 'prom-client';

/** What all names of ours begin with, so that they stand apart from those of the process (`nodejs_`, `process_`). */
const prefix = 'animal_store_';

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
  /** What the name ends in, where a metric has more than one: `_bucket`, `_sum`, `_count`. */
  readonly suffix?: string;
}

export interface Exposition {
  /** Without the prefix. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
}

/** What `/metrics` shows: at first what prom-client knows of the process, its memory, its collector and its loop. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * Shows a metric whose samples are asked for when it is scraped. What is counted meanwhile is plain numbers:
 * prom-client's own counters look their labels up at each step, which costs a microsecond.
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
  // Of a metric the registry uses no more than these two.
  registry.registerMetric(metric as unknown as Counter);
}
