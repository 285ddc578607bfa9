import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import { reasonOf } from '../../errors.ts';
import { redactKeys } from '../../observability/safe-text.ts';
import type { Counters } from '../counters.ts';
import type { MemoryCounters } from '../memory/memory-counters.ts';
import { bannedUntilMs, type Conduct, newConduct } from '../rules/bans.ts';
import type { Usage } from '../rules/decision.ts';
import { newWindows, type Windows } from '../rules/windows.ts';
import { createRedisCounters, type RedisBan, type RedisCounters } from './redis-counters.ts';

/** How an instance counts: with the others, or alone for the given reason. `sinceMs` is Unix milliseconds. */
export type Sharing =
  | { readonly mode: 'shared'; readonly sinceMs: number }
  | { readonly mode: 'alone'; readonly sinceMs: number; readonly reason: string };

/** Options of `createSharedCounters`. */
export interface SharedCountersOptions {
  readonly url: string;
  readonly prefix: string;
  readonly local: MemoryCounters;
  readonly clock: Clock;
  /**
   * Gets the first result of a probe, and each change. After a failed call it waits for the probe that follows, because
   * the probe finds the cause. Not called after `close`.
   */
  readonly onChange?: (sharing: Sharing) => void;
  /** Milliseconds between probes. Probes also run while the shared counters are in use. Default: 500. */
  readonly probeMs?: number;
}

/**
 * Creates counters that use Redis while it is reachable. If a call fails, the instance counts alone in `local` until a
 * probe succeeds. The request of the failed call is counted in `local` too. While the instance counts alone, `take`
 * returns a plain value.
 *
 * `local` keeps the counts and bans that this instance last received. If the instance then counts alone, an account
 * continues from these counts. Afterwards Redis counts on: what was counted alone is not added. A ban that began while
 * this instance counted alone, or that it knew when Redis went away, still holds at this instance.
 */
export function createSharedCounters(options: SharedCountersOptions) {
  const { url, prefix, local } = options;
  const bans = createKnownBans(local);
  const redis = createRedisCounters({ url, prefix, onBan: bans.remember });
  const owed = createOwedCalls();
  const stored = createStoredWindows(local);
  const { now, leave, probe, close } = watchSharing(options, redis, owed.pay, bans.keep);

  const counters: Counters = {
    take(subject, limits, keyId, nowMs) {
      const countAlone = () => {
        const usage = local.take(subject, limits, keyId, nowMs);
        if (keyId !== null) stored.spend(subject);
        return usage;
      };
      if (now().mode === 'alone' || (keyId !== null && bans.holds(keyId, nowMs))) return countAlone();
      return redis.take(subject, limits, keyId, nowMs, keyId === null ? null : stored.spend(subject)).then(
        (usage) => {
          if (keyId !== null) {
            rememberWindows(local, subject, usage);
            stored.spend(subject);
          }
          return usage;
        },
        (error) => {
          leave(error, subject);
          return countAlone();
        },
      );
    },

    look(subject, nowMs) {
      if (now().mode === 'alone') return local.look(subject, nowMs);
      return redis.look(subject, nowMs).catch((error) => {
        leave(error, subject);
        return local.look(subject, nowMs);
      });
    },

    async lift(subject, keyId, atMs) {
      owed.owe(`lift ${keyId}`, () => redis.lift(subject, keyId, atMs));
      if (now().mode === 'shared') await owed.pay().catch((error) => leave(error, subject));
      // Earlier answers may have arrived in this turn of the event loop, and may still bring the ban.
      await nextTurn();
      local.lift(subject, keyId, atMs);
    },

    async reset(subject, atMs) {
      owed.owe(`reset ${subject}`, () => redis.reset(subject, atMs));
      if (now().mode === 'shared') await owed.pay().catch((error) => leave(error, subject));
      await nextTurn();
      local.reset(subject, atMs);
    },
  };
  return { ...counters, sharing: now, probe, close };
}

/**
 * Uses Redis while calls and probes succeed. `beforeSharing` runs before each return to Redis, and `onLeave` when Redis
 * goes away.
 */
function watchSharing(
  { clock, onChange = () => undefined, probeMs = 500 }: SharedCountersOptions,
  redis: RedisCounters,
  beforeSharing: () => Promise<void>,
  onLeave: () => void,
) {
  let sharing: Sharing = { mode: 'alone', sinceMs: clock(), reason: 'Redis has not been tried yet' };
  const reports = createReports(onChange);
  /** A subject whose requests could not be counted. In a cluster, only the node of this subject may be down. */
  let probed = 'account:probe';
  let probing: Promise<void> | null = null;
  let closed = false;
  const timer = setInterval(probe, probeMs).unref();

  function stayAlone(error: unknown): void {
    if (sharing.mode === 'shared') onLeave();
    const sinceMs = sharing.mode === 'alone' ? sharing.sinceMs : clock();
    sharing = { mode: 'alone', sinceMs, reason: redactKeys(reasonOf(error)) };
  }

  async function tryToShare(): Promise<void> {
    try {
      await redis.probe(probed);
      await beforeSharing();
      if (closed) return;
      if (!reports.isEmpty()) reports.add(sharing);
      if (sharing.mode === 'alone' && !closed) sharing = { mode: 'shared', sinceMs: clock() };
    } catch (error) {
      stayAlone(error);
    }
    if (!closed) reports.add(sharing);
  }

  function probe(): Promise<void> {
    probing ??= tryToShare().finally(() => {
      probing = null;
    });
    return probing;
  }

  return {
    now: () => sharing,
    /** Tries to reach the shared counters now. Call it once before the first request. Never fails. */
    probe,
    /** Makes this instance count alone after a failed call, until a probe succeeds. */
    leave(error: unknown, subject: string): void {
      if (sharing.mode === 'alone') return;
      probed = subject;
      stayAlone(error);
      probe();
    },
    /** Closes the shared counters. Running calls to them fail. From then on the instance counts alone. */
    close(): void {
      clearInterval(timer);
      closed = true;
      stayAlone(new Error('closed'));
      redis.close();
    },
  };
}

/** Reports a mode that differs from the last one reported. */
function createReports(onChange: (sharing: Sharing) => void) {
  let last: Sharing['mode'] | null = null;

  return {
    isEmpty: () => last === null,
    add(sharing: Sharing): void {
      if (last === sharing.mode) return;
      last = sharing.mode;
      onChange(sharing);
    },
  };
}

/** Keeps lifts and resets until Redis has them. */
function createOwedCalls() {
  const owed = new Map<string, () => Promise<void>>();

  return {
    owe: (name: string, call: () => Promise<void>) => void owed.set(name, call),
    async pay(): Promise<void> {
      for (const [name, call] of owed) {
        await call();
        owed.delete(name);
      }
    },
  };
}

/**
 * The windows that the store had when this instance started. Each is offered to Redis once, with the first request of its
 * account. Windows that this instance counted alone are never offered.
 */
function createStoredWindows({ windows: { accounts } }: MemoryCounters) {
  const spent = new WeakSet<Windows>();

  return {
    spend(subject: string): Windows | null {
      const windows = accounts.get(subject);
      if (windows === undefined || spent.has(windows)) return null;
      spent.add(windows);
      return windows;
    },
  };
}

/** Keeps the higher count of a window. The lower one lacks requests counted alone, or is from an older response. */
function rememberWindows({ windows: { accounts } }: MemoryCounters, subject: string, usage: Usage): void {
  const windows = accounts.get(subject) ?? newWindows();
  accounts.set(subject, windows);
  const isSameMinute = windows.minuteEndsAtMs === usage.minuteEndsAtMs;
  const isSameDay = windows.dayEndsAtMs === usage.dayEndsAtMs;
  windows.minuteUsed = Math.max(usage.minuteUsed, isSameMinute ? windows.minuteUsed : 0);
  windows.minuteEndsAtMs = usage.minuteEndsAtMs;
  windows.dayUsed = Math.max(usage.dayUsed, isSameDay ? windows.dayUsed : 0);
  windows.dayEndsAtMs = usage.dayEndsAtMs;
}

/**
 * The bans that an instance knows. Redis decides about a ban that it has reported, because its clock may differ. All
 * other bans of `local` hold without Redis.
 */
function createKnownBans({ keys, changed }: MemoryCounters) {
  let inRedis = new WeakSet<Conduct>();

  return {
    remember(keyId: string, { banAtMs, banMs }: RedisBan): void {
      const known = keys.get(keyId);
      if (known?.banAtMs === banAtMs && inRedis.has(known)) return;
      const conduct = { ...newConduct(), banAtMs, banMs };
      inRedis.add(conduct);
      keys.set(keyId, conduct);
      // The store must have every ban, because `bans list` shows the stored bans.
      changed.keys.set(keyId, conduct);
    },

    holds(keyId: string, nowMs: number): boolean {
      const conduct = keys.get(keyId);
      return conduct !== undefined && !inRedis.has(conduct) && bannedUntilMs(conduct, nowMs) > 0;
    },

    /** Redis went away, and may come back empty. */
    keep(): void {
      inRedis = new WeakSet();
    },
  };
}
