import { LRUCache } from 'lru-cache';
import type { Limits } from '../../plans/plan.ts';
import { addressesMax } from '../counters.ts';
import { kindOf, type SubjectKind } from '../rules/address.ts';
import { bannedUntilMs, type Conduct, forgetAtMs, forgive, newConduct, strike } from '../rules/bans.ts';
import type { Usage } from '../rules/decision.ts';
import { closeEnded, newWindows, resetWindows, takeFromBoth, type Windows } from '../rules/windows.ts';

/**
 * Creates empty counts. Accounts have no bound, because only operators create them. The changes since the counts were
 * last stored are in `changed`: for an address that was forgotten, an empty count, which replaces the stored one.
 */
function createCounts(addressCountMax: number) {
  const changed = { windows: new Map<string, Windows>(), keys: new Map<string, Conduct>() };
  const createBounded = () =>
    new LRUCache<string, Windows>({
      // The option `max` would allocate memory for all entries at once.
      maxSize: addressCountMax,
      sizeCalculation: () => 1,
      dispose: (_windows, subject, reason) => {
        if (reason === 'evict') changed.windows.set(subject, newWindows());
      },
    });
  const windows = {
    accounts: new Map<string, Windows>(),
    addresses: createBounded(),
    readers: createBounded(),
  } satisfies Record<SubjectKind, unknown>;
  const keys = new Map<string, Conduct>();
  return {
    windows,
    keys,
    changed,
    /** Returns when the ban of a key ends; 0 if it is not banned, or null. */
    findBan(keyId: string | null, nowMs: number): number {
      const conduct = keyId === null ? undefined : keys.get(keyId);
      return conduct === undefined ? 0 : bannedUntilMs(conduct, nowMs);
    },
    setConduct(keyId: string, conduct: Conduct): void {
      keys.set(keyId, conduct);
      changed.keys.set(keyId, conduct);
    },
    sweep(nowMs: number): void {
      for (const [keyId, conduct] of keys) if (forgetAtMs(conduct) <= nowMs) keys.delete(keyId);
    },
  };
}

/** Counters whose methods return plain values, never promises. */
export type MemoryCounters = ReturnType<typeof createMemoryCounters>;

/** Creates counters in the memory of this process. */
export function createMemoryCounters(options: { addressesMax?: number | undefined } = {}) {
  const counts = createCounts(options.addressesMax ?? addressesMax);
  const { windows: windowsOf, keys, changed, findBan, setConduct } = counts;

  /** Returns when the ban of the key ends, if this refusal began one; else 0. */
  function strikeKey(keyId: string, perMinute: number, nowMs: number): number {
    const conduct = keys.get(keyId) ?? newConduct();
    setConduct(keyId, conduct);
    strike(conduct, perMinute, nowMs);
    return bannedUntilMs(conduct, nowMs);
  }

  return {
    ...counts,

    take(subject: string, limits: Limits, keyId: string | null, nowMs: number): Usage {
      const entries = windowsOf[kindOf(subject)];
      let windows = entries.get(subject);
      if (windows === undefined) {
        windows = newWindows();
        entries.set(subject, windows);
      }
      const untilMs = findBan(keyId, nowMs);
      if (untilMs > 0) {
        closeEnded(windows, nowMs);
        return toUsage('banned', windows, untilMs, nowMs);
      }
      if (takeFromBoth(windows, limits, nowMs)) {
        changed.windows.set(subject, windows);
        return toUsage('passed', windows, 0, nowMs);
      }
      const beganUntilMs = keyId === null ? 0 : strikeKey(keyId, limits.perMinute, nowMs);
      return toUsage('refused', windows, beganUntilMs, nowMs);
    },

    look(subject: string, nowMs: number): Usage {
      const windows = { ...(windowsOf[kindOf(subject)].get(subject) ?? newWindows()) };
      closeEnded(windows, nowMs);
      return toUsage('passed', windows, 0, nowMs);
    },

    lift(_subject: string, keyId: string, atMs: number): boolean {
      const conduct = keys.get(keyId);
      // A lift that changes nothing is not stored: the stored ban may be a later one of another instance.
      if (conduct !== undefined && forgive(conduct, atMs)) setConduct(keyId, conduct);
      return true;
    },

    reset(subject: string, atMs: number): boolean {
      const windows = windowsOf.accounts.get(subject);
      if (windows === undefined) return true;
      resetWindows(windows, atMs);
      changed.windows.set(subject, windows);
      return true;
    },
  };
}

function toUsage(verdict: Usage['verdict'], windows: Windows, bannedUntilMs: number, atMs: number): Usage {
  return { verdict, atMs, ...windows, bannedUntilMs };
}
