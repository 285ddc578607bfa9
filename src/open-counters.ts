import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import type { Counters } from './limits/counters.ts';
import { type CounterStore, createCounterStore } from './limits/memory/counter-store.ts';
import { createMemoryCounters } from './limits/memory/memory-counters.ts';
import { redisPrefix } from './limits/redis/prefix.ts';
import { createSharedCounters, type SharedCounters } from './limits/redis/shared-counters.ts';
import type { Log } from './observability/log.ts';
import type { Database } from './storage/database.ts';

/**
 * Opens the counters. Without Redis, they are in this process and kept in the database. With Redis, all instances
 * share them, and each counts in its own process while Redis is out of reach.
 */
export async function openCounters(
  { redisUrl }: Config,
  database: Database,
  secret: Uint8Array,
  clock: Clock,
  log: Log,
): Promise<{ counters: Counters; store: CounterStore; shared: SharedCounters | null }> {
  const local = createMemoryCounters();
  const store = createCounterStore({ counters: local, database, clock });
  await store.load();
  if (redisUrl === null) return { counters: local, store, shared: null };
  const prefix = redisPrefix(secret);
  // Loaded only if needed: the driver is a third of the code that a start loads.
  const { createRedisCounters } = await import('./limits/redis/redis-counters.ts');
  const shared = createSharedCounters({
    local,
    clock,
    shared: createRedisCounters({ url: redisUrl, prefix }),
    onChange: (sharing) =>
      log[sharing.mode === 'alone' ? 'warn' : 'info'](sharing, `requests are now counted ${sharing.mode}`),
  });
  await shared.probe();
  return { counters: shared, store, shared };
}

/** One note while this instance counts alone although Redis is configured; else none. */
export function describeSharing(shared: SharedCounters | null): string[] {
  const sharing = shared?.sharing();
  if (sharing?.mode !== 'alone') return [];
  return [`the counters: alone since ${new Date(sharing.sinceMs).toISOString()}: ${sharing.reason}`];
}
