import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { reasonOf } from '../../errors.ts';
import { redactKeys } from '../../observability/safe-text.ts';
import type { Counters } from '../counters.ts';
import type { MemoryCounters } from '../memory/memory-counters.ts';
import { newConduct } from '../rules/bans.ts';
import type { Usage } from '../rules/decision.ts';
import { newWindows, type Window } from '../rules/windows.ts';
import { createRedisCounters, type RedisCounters } from './redis-counters.ts';

/** How an instance counts: with the others, or alone for the given reason. `sinceMs` is Unix milliseconds. */
export type Sharing =
  | { readonly mode: 'shared'; readonly sinceMs: number }
  | { readonly mode: 'alone'; readonly sinceMs: number; readonly reason: string };

interface SharedCountersOptions {
  readonly url: string;
  readonly prefix: string;
  readonly local: MemoryCounters;
  readonly clock: Clock;
  /** Gets the first result of a probe, and each change, whose cause the next probe has found. Not called after `close`. */
  readonly onChange: (sharing: Sharing) => void;
  /** Milliseconds between probes. Probes also run while the shared counters are in use. Default: 500. */
  readonly probeMs?: number;
}

/**
 * Creates counters that use Redis while it is reachable. From a call that fails until a probe succeeds, the instance
 * counts alone in `local`, which has the counts and bans that this instance last received. What was counted alone is not
 * added to Redis. A ban that this instance knows holds here until it ends or is lifted.
 */
export function createSharedCounters(options: SharedCountersOptions) {
  const { url, prefix, local } = options;
  const redis = createRedisCounters({ url, prefix, onBan: (...ban) => rememberBan(local, ...ban) });
  const { now, leave, probe, close } = watchSharing(options, redis);
  /** The windows that the store had at the start, until the first request of their account brings them to Redis. */
  const stored = new Map(local.windows.accounts);
  /** By how much the clock of Redis is ahead, as far as this instance knows. All times of `local` are of that clock. */
  let aheadMs = 0;

  /** Corrects the counts in Redis and in this process. Returns false if only the latter are corrected. */
  function correctBoth<Change extends unknown[]>(
    inRedis: (subject: string, ...change: Change) => Promise<boolean>,
    here: (subject: string, ...change: Change) => boolean,
  ) {
    return async (subject: string, ...change: Change): Promise<boolean> => {
      const failed = (error: unknown) => leave(error, subject);
      const isDone = now().mode === 'shared' && (await inRedis(subject, ...change).catch(failed)) === true;
      // Earlier answers may have arrived in this turn of the event loop, and may still bring the ban.
      await nextTurn();
      return here(subject, ...change) && isDone;
    };
  }

  const counters: Counters = {
    take(subject, limits, keyId, nowMs) {
      const windows = stored.get(subject);
      stored.delete(subject);
      const countAlone = () => local.take(subject, limits, keyId, nowMs + aheadMs);
      if (now().mode === 'alone' || local.findBan(keyId, nowMs + aheadMs) > 0) return countAlone();
      return redis.take(subject, limits, keyId, nowMs, windows).then(
        (usage) => {
          // Counted from before the call, so that no ban holds here for longer than in Redis.
          aheadMs = usage.atMs - nowMs;
          if (keyId !== null) rememberWindows(local, subject, usage);
          return usage;
        },
        (error) => {
          leave(error, subject);
          return countAlone();
        },
      );
    },

    look(subject, nowMs) {
      const lookAlone = () => local.look(subject, nowMs + aheadMs);
      if (now().mode === 'alone') return lookAlone();
      return redis.look(subject, nowMs).catch((error) => {
        leave(error, subject);
        return lookAlone();
      });
    },

    lift: correctBoth(redis.lift, local.lift),
    reset: correctBoth(redis.reset, local.reset),
  };
  return { ...counters, sharing: now, probe, close };
}

/**
 * Uses Redis while calls and probes succeed. Call `probe` once before the first request; it never fails. After `leave`,
 * the instance counts alone until a probe succeeds. After `close` it counts alone, and running calls to Redis fail.
 */
function watchSharing({ clock, onChange, probeMs = 500 }: SharedCountersOptions, redis: RedisCounters) {
  let sharing: Sharing = { mode: 'alone', sinceMs: clock(), reason: 'Redis has not been tried yet' };
  let reported: Sharing['mode'] | null = null;
  /** A subject whose requests could not be counted. In a cluster, only the node of this subject may be down. */
  let probed = 'account:probe';
  let probing: Promise<void> | null = null;
  let closed = false;
  const timer = setInterval(probe, probeMs).unref();

  function stayAlone(error: unknown): void {
    const sinceMs = sharing.mode === 'alone' ? sharing.sinceMs : clock();
    sharing = { mode: 'alone', sinceMs, reason: redactKeys(reasonOf(error)) };
  }

  function report(): void {
    if (!closed && reported !== sharing.mode) onChange(sharing);
    reported = sharing.mode;
  }

  async function tryToShare(): Promise<void> {
    const wasShared = sharing.mode === 'shared';
    try {
      await redis.probe(probed);
      // A failed call between two probes that succeed is reported too.
      if (reported !== null) report();
      if (sharing.mode === 'alone' && !closed) sharing = { mode: 'shared', sinceMs: clock() };
    } catch (error) {
      stayAlone(error);
      // The connection has broken. A new one finds the cause.
      if (wasShared && !closed) return tryToShare();
    }
    report();
  }

  function probe(): Promise<void> {
    probing ??= tryToShare().finally(() => {
      probing = null;
    });
    return probing;
  }

  return {
    now: () => sharing,
    probe,
    leave(error: unknown, subject: string): void {
      if (sharing.mode === 'alone') return;
      probed = subject;
      stayAlone(error);
      probe();
    },
    close(): void {
      clearInterval(timer);
      closed = true;
      stayAlone(new Error('closed'));
      redis.close();
    },
  };
}

/** The store gets every ban, because `bans list` shows the stored bans. */
function rememberBan(local: MemoryCounters, keyId: string, banAtMs: number, banMs: number): void {
  if (local.keys.get(keyId)?.banAtMs === banAtMs) return;
  local.setConduct(keyId, { ...newConduct(), banAtMs, banMs });
}

/** Keeps the higher count of a window. The lower one lacks requests counted alone, or is from an older response. */
function rememberWindows({ windows: { accounts } }: MemoryCounters, subject: string, usage: Usage): void {
  const windows = accounts.get(subject) ?? newWindows();
  accounts.set(subject, windows);
  windows.minute = higher(windows.minute, usage.minute);
  windows.day = higher(windows.day, usage.day);
}

function higher(known: Window, told: Window): Window {
  return known.endsAtMs === told.endsAtMs && known.used > told.used ? known : told;
}
