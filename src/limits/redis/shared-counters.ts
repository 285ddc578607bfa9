import type { Clock } from '../../clock.ts';
import type { Limits } from '../../plans/plan.ts';
import type { Counters } from '../counters.ts';
import type { Ledger, Ledgers } from '../memory/ledger.ts';
import type { MemoryCounters } from '../memory/memory-counters.ts';
import { banMsMax, banMsMin, bannedUntilMs } from '../rules/bans.ts';
import type { Usage } from '../rules/decision.ts';
import type { RedisCounters } from './redis-counters.ts';
import { type Sharing, watchSharing } from './sharing.ts';
import { createUntold } from './untold.ts';

/** Counters that are shared while they can be, and never open or closed while they cannot (contract section 6). */
export interface SharedCounters extends Counters {
  sharing(): Sharing;
  /** Tries now to share; to be called once before the first request. Never fails. */
  probe(): Promise<void>;
  /** Lets what is running fail, and counts alone from then on. */
  close(): void;
}

/** How often it is tried whether the shared counters can be reached, while they are used and while they are not. */
const probeMs = 500;

/**
 * Counts in `shared`; from the first call that fails until a probe succeeds, in `local`, each request within its call.
 * The request whose call has failed is counted in `local` too.
 *
 * What this instance has last seen of the shared counts and bans is kept in `local`: alone an account goes on from where
 * it was. What `local` was filled with before, or has counted alone, counts in `shared` too where that knows nothing of
 * the account; a ban of the key, where that knows of none that ends as late. Else the shared counters go on from where
 * they were once they are back, and do not learn of what was let through meanwhile: of a window that was open then an
 * account may have had its limit once more from each instance. In `local` that is remembered until the window ends, so
 * that a way that comes and goes lets no more through. Ends of windows are told by the clock of the shared counters;
 * where an instance's own differs, so do its windows while it is alone.
 */
export function createSharedCounters(options: {
  shared: RedisCounters;
  local: MemoryCounters;
  clock: Clock;
  onChange?: (sharing: Sharing) => void;
  probeMs?: number;
}): SharedCounters {
  const { shared, local, clock, onChange = () => undefined } = options;
  const untold = createUntold(local.ledgers);
  const alone = createLoneCounting(local);
  const sharing = watchSharing({
    shared,
    clock,
    probeMs: options.probeMs ?? probeMs,
    onLeave: alone.begin,
    onChange,
  });

  return {
    sharing: sharing.now,
    probe: sharing.probe,

    take(subject, limits, keyId, nowMs) {
      if (sharing.now().mode === 'alone') return alone.take(subject, limits, keyId, nowMs);
      const kept = keyId === null ? null : untold.find(subject, keyId);
      return shared.take(subject, limits, keyId, nowMs, kept).then(
        (usage) => {
          if (keyId === null) return usage;
          remember(local.ledgers, subject, keyId, usage);
          untold.settle(subject);
          return usage;
        },
        (error) => {
          sharing.leave(error, { subject, keyId });
          return alone.take(subject, limits, keyId, nowMs);
        },
      );
    },

    peek(subject, nowMs) {
      if (sharing.now().mode === 'alone') return local.peek(subject, nowMs);
      return shared.peek(subject, nowMs).catch((error) => {
        sharing.leave(error, { subject, keyId: null });
        return local.peek(subject, nowMs);
      });
    },

    close() {
      sharing.close();
      shared.close();
    },
  };
}

/** What was taken over from the shared counters is stored once it counts, even if the request changes none of it. */
function createLoneCounting(local: MemoryCounters) {
  const { accounts, keys } = local.ledgers;
  /** What has been marked to be stored since this instance counts alone. */
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

/** Of one window the higher count is right: the lower lacks what was counted alone, or is an older answer. */
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
 * Of a ban that began unseen only the end is known: it is taken for the shortest that can have this end. One of a clock
 * that is ahead begins now, as in the shared counters: told on as it was, it would begin anew with each request.
 */
function rememberBan(keys: Ledgers['keys'], keyId: string, usage: Usage): void {
  const conduct = keys.open(keyId);
  if (bannedUntilMs(conduct, usage.atMs) >= usage.bannedUntilMs) return;
  let banMs = banMsMin;
  while (banMs < usage.bannedUntilMs - usage.atMs && banMs < banMsMax) banMs = Math.min(2 * banMs, banMsMax);
  conduct.banMs = banMs;
  conduct.banAtMs = usage.bannedUntilMs - banMs;
}
