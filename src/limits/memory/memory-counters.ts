import type { Limits } from '../../plans/plan.ts';
import type { Counters } from '../counters.ts';
import { kindOf } from '../rules/address.ts';
import { bannedUntilMs, strike } from '../rules/bans.ts';
import type { Usage } from '../rules/decision.ts';
import { closeEnded, newWindows, resetWindows, takeFromBoth, type Windows } from '../rules/windows.ts';
import { createLedgers, type Ledgers } from './ledger.ts';

/** Counters whose methods return plain values, never promises. */
export interface MemoryCounters extends Counters {
  /** The counts and bans, for the counter store. */
  readonly ledgers: Ledgers;
  take(subject: string, limits: Limits, keyId: string | null, nowMs: number): Usage;
  look(subject: string, nowMs: number): Usage;
  lift(subject: string, keyId: string, atMs: number): void;
  reset(subject: string, atMs: number): void;
}

/** Creates counters in the memory of this process. */
export function createMemoryCounters(options: { addressesMax?: number } = {}): MemoryCounters {
  const ledgers = createLedgers(options.addressesMax);
  const { accounts, keys } = ledgers;

  function takeForAddress(subject: string, limits: Limits, nowMs: number): Usage {
    const ledger = ledgers[kindOf(subject)];
    const windows = ledger.open(subject);
    if (!takeFromBoth(windows, limits, nowMs)) return toUsage('refused', windows, 0, nowMs);
    ledger.markChanged(subject);
    return toUsage('passed', windows, 0, nowMs);
  }

  function takeForKey(subject: string, limits: Limits, keyId: string, nowMs: number): Usage {
    const windows = accounts.open(subject);
    const untilMs = findBan(keyId, nowMs);
    if (untilMs > 0) {
      closeEnded(windows, nowMs);
      return toUsage('banned', windows, untilMs, nowMs);
    }
    if (takeFromBoth(windows, limits, nowMs)) {
      accounts.markChanged(subject);
      return toUsage('passed', windows, 0, nowMs);
    }
    const conduct = keys.open(keyId);
    strike(conduct, limits.perMinute, nowMs);
    keys.markChanged(keyId);
    return toUsage('refused', windows, bannedUntilMs(conduct, nowMs), nowMs);
  }

  function findBan(keyId: string, nowMs: number): number {
    const conduct = keys.get(keyId);
    return conduct === undefined ? 0 : bannedUntilMs(conduct, nowMs);
  }

  return {
    ledgers,
    take: (subject, limits, keyId, nowMs) =>
      keyId === null ? takeForAddress(subject, limits, nowMs) : takeForKey(subject, limits, keyId, nowMs),

    look(subject, nowMs) {
      const windows = { ...(ledgers[kindOf(subject)].get(subject) ?? newWindows()) };
      closeEnded(windows, nowMs);
      return toUsage('passed', windows, 0, nowMs);
    },

    lift(_, keyId, atMs) {
      const conduct = keys.get(keyId);
      if (conduct !== undefined && conduct.banAtMs <= atMs) keys.drop(keyId);
    },

    reset(subject, atMs) {
      const windows = accounts.get(subject);
      if (windows === undefined) return;
      resetWindows(windows, atMs);
      accounts.markChanged(subject);
    },
  };
}

function toUsage(verdict: Usage['verdict'], windows: Windows, untilMs: number, atMs: number): Usage {
  const { minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs } = windows;
  return { verdict, atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, bannedUntilMs: untilMs };
}
