import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';
import type { Limits } from '../../plans/plan.ts';
import type { Soon } from '../../soon.ts';
import type { Counters } from '../counters.ts';
import type { Ledger, Ledgers } from '../memory/ledger.ts';
import type { MemoryCounters } from '../memory/memory-counters.ts';
import { banMsMax, banMsMin, bannedUntilMs } from '../rules/bans.ts';
import type { Usage } from '../rules/decision.ts';
import type { RedisCounters } from './redis-counters.ts';
import { type Culprit, type Sharing, type SharingWatch, watchSharing } from './sharing.ts';
import { createUnsynced } from './unsynced.ts';

/** Counters that are shared while Redis is reachable. Otherwise each instance counts alone (contract section 6). */
export interface SharedCounters extends Counters {
  sharing(): Sharing;
  /** Tries to reach the shared counters now. Call it once before the first request. Never fails. */
  probe(): Promise<void>;
  /** Closes the shared counters. Running calls to them fail. From then on the instance counts alone. */
  close(): void;
}

/** Milliseconds between probes of the shared counters. Probes also run while the shared counters are in use. */
const probeMs = 500;

/**
 * Creates counters that use `shared` while Redis is reachable. If a call fails, the instance counts alone in `local`
 * until a probe succeeds. The request of the failed call is counted in `local` too. While the instance counts alone,
 * `take` returns a plain value.
 *
 * While the counters are shared, `local` keeps the counts and bans that this instance last received. If the instance
 * then counts alone, an account continues from these counts.
 *
 * State that `local` loaded from the store or counted alone is also sent to `shared`. If `shared` has no windows of the
 * account, the local windows apply. If the local ban expires later than the ban in `shared`, the local ban applies.
 *
 * If `shared` still has windows of the account, these windows lack the requests that instances counted alone. So during
 * an outage, each instance lets an account use its limit once more in the windows that were open. Further outages in
 * the same windows let no more requests pass, because `local` keeps its counts until the windows reset.
 *
 * The ends of windows are in the time of the shared counters' clock. If an instance's clock differs, its windows reset
 * earlier or later while it counts alone.
 */
export function createSharedCounters(options: {
  shared: RedisCounters;
  local: MemoryCounters;
  clock: Clock;
  onChange?: (sharing: Sharing) => void;
  probeMs?: number;
}): SharedCounters {
  const { shared, local, clock, onChange = () => undefined } = options;
  const unsynced = createUnsynced(local.ledgers);
  const alone = createLoneCounting(local);
  const sharing = watchSharing({
    shared,
    clock,
    probeMs: options.probeMs ?? probeMs,
    onLeave: alone.begin,
    onChange,
  });

  const lifts = createLifts(shared, local, sharing);

  const ask = createQuestions(shared, local, sharing);

  return {
    sharing: sharing.now,
    probe: sharing.probe,

    take(subject, limits, keyId, nowMs) {
      if (sharing.now().mode === 'alone') return alone.take(subject, limits, keyId, nowMs);
      lifts.pay();
      const kept = keyId === null ? null : unsynced.find(subject, keyId);
      return shared.take(subject, limits, keyId, nowMs, kept).then(
        (usage) => {
          if (keyId === null) return usage;
          remember(local.ledgers, subject, keyId, usage);
          unsynced.settle(subject);
          return usage;
        },
        (error) => {
          sharing.leave(error, { subject, keyId });
          return alone.take(subject, limits, keyId, nowMs);
        },
      );
    },

    peek: (subject, nowMs) => ask('peek', { subject, keyId: null }, nowMs),
    look: (subject, nowMs) => ask('look', { subject, keyId: '' }, nowMs),

    lift: lifts.lift,

    close() {
      sharing.close();
      shared.close();
    },
  };
}

/** Reads a usage from the shared counters, or from the local counters while this instance counts alone. */
function createQuestions(shared: RedisCounters, local: MemoryCounters, sharing: SharingWatch) {
  return (question: 'peek' | 'look', whose: Culprit, nowMs: number): Soon<Usage> => {
    const askLocal = () => local[question](whose.subject, nowMs);
    if (sharing.now().mode === 'alone') return askLocal();
    return shared[question](whose.subject, nowMs).catch((error) => {
      sharing.leave(error, whose);
      return askLocal();
    });
  };
}

/** Lifts bans. While this instance counts alone, it owes its lifts to Redis. It sends them before the next request. */
function createLifts(shared: RedisCounters, local: MemoryCounters, sharing: SharingWatch) {
  const owed = new Map<string, { readonly subject: string; readonly atMs: number }>();

  return {
    async lift(subject: string, keyId: string, atMs: number): Promise<void> {
      if (sharing.now().mode === 'alone') {
        owed.set(keyId, { subject, atMs });
        local.lift(subject, keyId, atMs);
        return;
      }
      const liftedAtMs = await shared.lift(subject, keyId, atMs);
      // Earlier answers may have arrived in this turn of the event loop, and may still bring the ban.
      await nextTurn();
      local.lift(subject, keyId, liftedAtMs);
    },
    /**
     * Sends the lifts. Commands run in the order of sending, so the lifts apply before the next request. A failed
     * lift is sent again later.
     */
    pay(): void {
      if (owed.size === 0) return;
      for (const [keyId, lift] of owed)
        shared.lift(lift.subject, keyId, lift.atMs).catch(() => owed.set(keyId, lift));
      owed.clear();
    },
  };
}

/**
 * Counts alone. Also marks entries that came from the shared counters, so that the counter store writes them even if
 * a request does not change them.
 */
function createLoneCounting(local: MemoryCounters) {
  const { accounts, keys } = local.ledgers;
  /** The entries that were marked since this instance began to count alone. */
  let marked = new WeakSet<object>();

  function markOnce(ledger: Ledger<object>, name: string): void {
    const entry = ledger.get(name);
    if (entry === undefined || marked.has(entry)) return;
    marked.add(entry);
    ledger.markChanged(name);
  }

  return {
    take(subject: string, limits: Limits, keyId: string | null, nowMs: number): Usage {
      const usage = local.take(subject, limits, keyId, nowMs);
      if (keyId !== null) {
        markOnce(accounts, subject);
        markOnce(keys, keyId);
      }
      return usage;
    },
    begin(): void {
      marked = new WeakSet();
    },
  };
}

/** Keeps the higher count of a window. The lower one lacks requests counted alone, or is from an older response. */
function remember({ accounts, keys }: Ledgers, subject: string, keyId: string, usage: Usage): void {
  const windows = accounts.open(subject);
  const isSameMinute = windows.minuteEndsAtMs === usage.minuteEndsAtMs;
  const isSameDay = windows.dayEndsAtMs === usage.dayEndsAtMs;
  windows.minuteUsed = Math.max(usage.minuteUsed, isSameMinute ? windows.minuteUsed : 0);
  windows.minuteEndsAtMs = usage.minuteEndsAtMs;
  windows.dayUsed = Math.max(usage.dayUsed, isSameDay ? windows.dayUsed : 0);
  windows.dayEndsAtMs = usage.dayEndsAtMs;
  if (usage.bannedUntilMs > 0) rememberBan(keys, keyId, usage);
}

/**
 * Keeps a ban that the shared counters reported. Only the expiry of the ban is known, so it gets the shortest
 * duration that fits. The comparison uses the shared clock (`usage.atMs`). If the local clock were used and ran
 * behind, every request would begin the ban again.
 */
function rememberBan(keys: Ledgers['keys'], keyId: string, usage: Usage): void {
  const conduct = keys.open(keyId);
  if (bannedUntilMs(conduct, usage.atMs) >= usage.bannedUntilMs) return;
  let banMs = banMsMin;
  while (banMs < usage.bannedUntilMs - usage.atMs && banMs < banMsMax) banMs = Math.min(2 * banMs, banMsMax);
  conduct.banMs = banMs;
  conduct.banAtMs = usage.bannedUntilMs - banMs;
  // The store must have every ban, because `bans list` shows the stored bans.
  keys.markChanged(keyId);
}
