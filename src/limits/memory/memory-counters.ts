import type { Limits } from '../../plans/plan.ts';
import type { Counters } from '../counters.ts';
import { bannedUntilMs, strike } from '../rules/bans.ts';
import type { Usage } from '../rules/decision.ts';
import { closeEnded, newWindows, takeFromBoth, type Windows } from '../rules/windows.ts';
import { createLedgers, type Ledgers } from './ledger.ts';

/** How many addresses are counted each by itself at once. */
export const addressesMax = 100_000;

/** What the addresses that found no room are counted as, together. */
export const overflowAddress = 'address:overflow';

/** Counters that answer within the call. */
export interface MemoryCounters extends Counters {
  /** What has been counted, for whoever keeps it. */
  readonly ledgers: Ledgers;
  take(subject: string, limits: Limits, keyId: string | null, nowMs: number): Usage;
  peek(subject: string, nowMs: number): Usage;
}

/**
 * Counts within this process. An address keeps its counts for as long as a window of it is open, so that strangers
 * cannot push it out; those that come when `addressesMax` are there share one count.
 */
export function createMemoryCounters(options: { addressesMax?: number } = {}): MemoryCounters {
  const ownAddressesMax = options.addressesMax ?? addressesMax;
  const ledgers = createLedgers();
  const { accounts, addresses, keys } = ledgers;

  function takeForAddress(subject: string, limits: Limits, nowMs: number): Usage {
    const name = placeAddress(subject);
    const windows = addresses.open(name);
    if (!takeFromBoth(windows, limits, nowMs)) return toUsage('refused', windows, 0, nowMs);
    addresses.markChanged(name);
    return toUsage('passed', windows, 0, nowMs);
  }

  function placeAddress(subject: string): string {
    const placed = addresses.size < ownAddressesMax || addresses.get(subject) !== undefined;
    return placed ? subject : overflowAddress;
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

    peek(subject, nowMs) {
      const windows = addresses.get(placeAddress(subject)) ?? newWindows();
      closeEnded(windows, nowMs);
      return toUsage('passed', windows, 0, nowMs);
    },
  };
}

function toUsage(verdict: Usage['verdict'], windows: Windows, untilMs: number, atMs: number): Usage {
  const { minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs } = windows;
  return { verdict, atMs, minuteUsed, minuteEndsAtMs, dayUsed, dayEndsAtMs, bannedUntilMs: untilMs };
}
