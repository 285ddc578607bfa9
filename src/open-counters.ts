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
 * Opens the counters of the rate limits. Without Redis, they are in this process and saved in the database. With
 * Redis, all instances share them. While Redis is unreachable, each instance counts in its own process.
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
  // Imported only if needed, because the Redis driver is a third of the code that a start loads.
  const { createRedisCounters } = await import('./limits/redis/redis-counters.ts');
  const shared = createSharedCounters({
    local,
    clock,
    shared: createRedisCounters({ url: redisUrl, prefix }),
    onChange: (sharing) =>
      log[sharing.mode === 'alone' ? 'warn' : 'info'](
        sharing,
        sharing.mode === 'alone'
          ? 'this instance counts requests alone'
          : 'this instance shares its request counts',
      ),
  });
  await shared.probe();
  return { counters: shared, store, shared };
}

/** Returns one note while this instance counts alone although Redis is configured. Otherwise returns no notes. */
export function describeSharing(shared: SharedCounters | null): string[] {
  const sharing = shared?.sharing();
  if (sharing?.mode !== 'alone') return [];
  return [`the counters: alone since ${new Date(sharing.sinceMs).toISOString()}: ${sharing.reason}`];
}
