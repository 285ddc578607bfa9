import { type Clock, secondMs } from './clock.ts';
import type { Config } from './config.ts';
import { describeFailure, OperatorError } from './errors.ts';
import type { Counters } from './limits/counters.ts';
import { type CounterStore, createCounterStore } from './limits/memory/counter-store.ts';
import { createMemoryCounters } from './limits/memory/memory-counters.ts';
import type { Sharing } from './limits/redis/shared-counters.ts';
import type { Log } from './observability/log.ts';
import type { Database } from './storage/database.ts';

/** The counters of the rate limits. `sharing` returns how this instance counts, and null without Redis. */
export interface OpenCounters extends Pick<CounterStore, 'flush' | 'sweep'> {
  readonly counters: Counters;
  readonly sharing: () => Sharing | null;
}

/** Opens the counters. With Redis, all instances share them; while it is away, each instance counts in its process. */
export async function openCounters(
  { redisUrl }: Config,
  database: Database,
  secret: Uint8Array,
  clock: Clock,
  log: Log,
  parts: AsyncDisposableStack,
): Promise<OpenCounters> {
  const local = createMemoryCounters();
  const { load, flush, sweep } = createCounterStore({ counters: local, database, clock });
  await load();
  if (redisUrl === null) return { counters: local, flush, sweep, sharing: () => null };
  // Imported only if needed, because the Redis driver is a third of the code that a start loads.
  const { createSharedCounters } = await import('./limits/redis/shared-counters.ts');
  const { redisPrefix } = await import('./limits/redis/redis-counters.ts');
  const shared = createSharedCounters({
    url: redisUrl,
    prefix: redisPrefix(secret),
    local,
    clock,
    onChange: (sharing) => logSharing(log, sharing),
  });
  parts.defer(shared.close);
  await shared.probe();
  return { counters: shared, flush, sweep, sharing: shared.sharing };
}

function logSharing(log: Log, sharing: Sharing): void {
  if (sharing.mode === 'alone') log.warn(sharing, 'this instance counts requests alone');
  else log.info(sharing, 'this instance shares its request counts');
}

/** Returns one note while this instance counts alone although Redis is configured. Otherwise returns no notes. */
export function describeSharing(sharing: Sharing | null): string[] {
  if (sharing?.mode !== 'alone') return [];
  return [`the counters: alone since ${new Date(sharing.sinceMs).toISOString()}: ${sharing.reason}`];
}

/** Time in ms that the last flush may take: up to `most` of the time left for the shutdown, and at least `least`. */
export const lastFlushMs = { most: 4 * secondMs, least: secondMs };

/**
 * Flushes the counts and last uses in memory at shutdown. `restMs` is the time left for the shutdown. If the flush takes
 * too long, gives up and logs one line. `isShared` is true if Redis has the counts.
 */
export async function flushLast(
  flush: () => Promise<unknown>,
  restMs: number,
  isShared: boolean,
  log: Log,
): Promise<void> {
  const msMax = Math.max(lastFlushMs.least, Math.min(lastFlushMs.most, restMs));
  const { promise: late, reject } = Promise.withResolvers<never>();
  const failure = new OperatorError('another program uses the store, or its disk hangs');
  const timer = setTimeout(reject, msMax, failure).unref();
  try {
    await Promise.race([flush(), late]);
  } catch (error) {
    const fault = describeFailure(error);
    if (isShared) log.warn(fault, 'the last use of keys could not be written');
    else log.error(fault, 'the last second of counts could not be written');
  } finally {
    clearTimeout(timer);
  }
}
