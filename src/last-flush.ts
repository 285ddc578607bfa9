import { secondMs } from './clock.ts';
import { OperatorError } from './errors.ts';
import type { SharedCounters } from './limits/redis/shared-counters.ts';
import type { Log } from './observability/log.ts';

/**
 * Time in ms that the last flush may take: up to `most` if the running requests finish quickly, and always at least
 * `least`.
 */
export const lastFlushMs = { most: 4 * secondMs, least: secondMs };

/**
 * Flushes the counts and last uses in memory at shutdown. `restMs` is the remaining time of the shutdown in ms. If
 * the flush takes too long, gives up and logs one line. The cause is another program that locks the store, or a disk
 * that hangs.
 */
export async function flushLast(
  flush: () => Promise<unknown>,
  restMs: number,
  shared: SharedCounters | null,
  log: Log,
): Promise<void> {
  const countsAreElsewhere = shared?.sharing().mode === 'shared';
  shared?.close();
  const msMax = Math.max(lastFlushMs.least, Math.min(lastFlushMs.most, restMs));
  const late = Promise.withResolvers<never>();
  const giveUp = () => late.reject(new OperatorError('another program uses the store, or its disk hangs'));
  const timer = setTimeout(giveUp, msMax).unref();
  try {
    await Promise.race([flush(), late.promise]);
  } catch (err) {
    if (countsAreElsewhere) log.warn({ err }, 'the last use of keys could not be written');
    else log.error({ err }, 'the last second of counts could not be written');
  } finally {
    clearTimeout(timer);
  }
}
