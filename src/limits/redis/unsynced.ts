import type { Ledgers } from '../memory/ledger.ts';
import type { Conduct } from '../rules/bans.ts';
import type { Windows } from '../rules/windows.ts';

/** Local state for the shared counters: the windows of an account and the ban of a key. Null members are not sent. */
export interface Kept {
  readonly windows: Windows | null;
  /** Null if the key was never banned. */
  readonly conduct: Conduct | null;
}

/** Finds local counts and bans that the shared counters may not have yet. */
export interface Unsynced {
  /** Returns the local state to send with a request. Null if there is none, which is the usual case. */
  find(subject: string, keyId: string): Kept | null;
  /**
   * Records that the shared counters have counted a request of an account. The account's local windows are not sent
   * again.
   */
  settle(subject: string): void;
}

/** Reads the given ledgers. A ban is sent with every request, so that it survives if Redis restarts empty. */
export function createUnsynced({ accounts, keys }: Ledgers): Unsynced {
  const settled = new WeakSet<Windows>();

  return {
    find(subject, keyId) {
      const windows = accounts.get(subject);
      const conduct = keys.get(keyId);
      const isKnown = windows === undefined || settled.has(windows);
      const isBlameless = conduct === undefined || conduct.banMs === 0;
      if (isKnown && isBlameless) return null;
      return { windows: isKnown ? null : windows, conduct: isBlameless ? null : conduct };
    },

    settle: (subject) => settled.add(accounts.open(subject)),
  };
}
