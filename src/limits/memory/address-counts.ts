import type { Limits } from '../../plans/plan.ts';
import {
  closeEnded,
  closeShared,
  mayMakeRoom,
  newWindows,
  takeFromBoth,
  type Windows,
} from '../rules/windows.ts';
import type { Ledger } from './ledger.ts';

/** Counts requests by address. A bounded number of addresses have their own windows. All others share windows. */
export interface AddressCounts {
  /** Counts a request if its windows have room. Returns these windows, and whether the request was counted. */
  take(subject: string, limits: Limits, nowMs: number): { windows: Windows; isCounted: boolean };
  /** Returns the windows that would count a request of the subject. */
  peek(subject: string, nowMs: number): Windows;
}

/** Creates the counts. The entries of `ledger` must be ordered by the opening of their day windows. */
export function createAddressCounts(ledger: Ledger<Windows>, addressesMax: number): AddressCounts {
  const shared = newWindows();

  /**
   * Returns the address to replace. Null: one more address may have its own windows. Undefined: no address may be
   * replaced yet.
   */
  function findOldest(nowMs: number): string | null | undefined {
    if (ledger.size < addressesMax) return null;
    const [name, windows] = ledger.oldest() ?? [];
    if (windows === undefined) return undefined;
    closeEnded(windows, nowMs);
    return mayMakeRoom(windows, nowMs) ? name : undefined;
  }

  function open(subject: string, nowMs: number): Windows {
    const own = ledger.get(subject);
    if (own !== undefined) return own;
    const oldest = findOldest(nowMs);
    if (oldest === undefined) return shared;
    if (oldest !== null) ledger.drop(oldest);
    return ledger.open(subject);
  }

  return {
    take(subject, limits, nowMs) {
      const windows = open(subject, nowMs);
      if (windows === shared) closeShared(shared, nowMs);
      const isCounted = takeFromBoth(windows, limits, nowMs);
      if (isCounted && windows !== shared) {
        if (windows.dayUsed === 1) ledger.set(subject, windows);
        ledger.markChanged(subject);
      }
      return { windows, isCounted };
    },

    peek(subject, nowMs) {
      const own = ledger.get(subject);
      if (own === undefined && findOldest(nowMs) !== undefined) return newWindows();
      const windows = own ?? shared;
      if (windows === shared) closeShared(shared, nowMs);
      else closeEnded(windows, nowMs);
      return windows;
    },
  };
}
