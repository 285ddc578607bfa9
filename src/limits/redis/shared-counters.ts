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

/**
 * Counters that are shared while Redis is reachable. Otherwise the instance counts alone: it neither stops limiting
 * nor refuses everything (contract section 6).
 */
export interface SharedCounters extends Counters {
  sharing(): Sharing;
  /** Tries to reach the shared counters now. Call it once before the first request. Never fails. */
  probe(): Promise<void>;
  /** Closes the shared counters; running calls fail. Counts alone from then on. */
  close(): void;
}

/** How often the shared counters are probed, whether they are in use or not. */
const probeMs = 500;

/**
 * Counts in `shared`. From the first failed call until a probe succeeds, counts in `local`, each request within its
 * call. The request of the failed call is counted in `local` too.
 *
 * `local` keeps the shared counts and bans that this instance last saw. Alone, an account continues from there.
 *
 * What `local` loaded from the store, or counted alone, is also sent to `shared`. Its windows apply if `shared` has
 * none of the account. Its ban applies if `shared` has none that ends as late.
 *
 * Otherwise the shared counters continue from their own counts and do not learn what passed until then. So an outage lets
 * an account use its limit once more on each instance, in the windows that were open then. Further outages in the same
 * window let no more through, because `local` remembers the requests until the window ends.
 *
 * Ends of windows are in the time of the shared counters' clock. If an instance's clock differs, so do its windows
 * while it counts alone.
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

  const lifts = createOwedLifts(shared);

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

    async lift(subject, keyId) {
      local.lift(subject, keyId);
      if (sharing.now().mode === 'shared') await shared.lift(subject, keyId);
      else lifts.owe(subject, keyId);
    },

    close() {
      sharing.close();
      shared.close();
    },
  };
}

/** Asks for a usage: the shared counters, or the local ones while this instance counts alone. */
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

/** Bans that were lifted while this instance counted alone. The shared counters get them before the next request. */
function createOwedLifts(shared: RedisCounters) {
  const owed = new Map<string, string>();

  return {
    owe: (subject: string, keyId: string) => owed.set(keyId, subject),
    /**
     * Sends the lifts. Commands arrive in order, so they take effect before the request. A failed lift is sent again
     * later.
     */
    pay(): void {
      if (owed.size === 0) return;
      for (const [keyId, subject] of owed) shared.lift(subject, keyId).catch(() => owed.set(keyId, subject));
      owed.clear();
    },
  };
}

/**
 * Counts alone. It also marks entries that came from the shared counters to be stored, even if a request does not
 * change them.
 */
function createLoneCounting(local: MemoryCounters) {
  const { accounts, keys } = local.ledgers;
  /** The entries marked since this instance began to count alone. */
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

/** Keeps the higher count of a window: the lower one lacks what was counted alone, or comes from an older answer. */
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
 * Keeps a ban that another instance saw begin. Only its end is known, so it gets the shortest length that fits. If
 * the shared clock is ahead, the ban begins now, as in the shared counters. Otherwise each request would begin it
 * again.
 */
function rememberBan(keys: Ledgers['keys'], keyId: string, usage: Usage): void {
  const conduct = keys.open(keyId);
  if (bannedUntilMs(conduct, usage.atMs) >= usage.bannedUntilMs) return;
  let banMs = banMsMin;
  while (banMs < usage.bannedUntilMs - usage.atMs && banMs < banMsMax) banMs = Math.min(2 * banMs, banMsMax);
  conduct.banMs = banMs;
  conduct.banAtMs = usage.bannedUntilMs - banMs;
  // So that the store has every ban and `bans list` shows it.
  keys.markChanged(keyId);
}
