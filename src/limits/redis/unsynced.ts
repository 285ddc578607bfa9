import type { Ledgers } from '../memory/ledger.ts';
import type { Conduct } from '../rules/bans.ts';
import type { Windows } from '../rules/windows.ts';

/** The local windows of an account and the bans of one of its keys. Null: nothing to send. */
export interface Kept {
  readonly windows: Windows | null;
  /** Null if the key was never banned. */
  readonly conduct: Conduct | null;
}

/** The local counts and bans that the shared counters may not have yet. */
export interface Unsynced {
  /** What to send with a request. Usually null. */
  find(subject: string, keyId: string): Kept | null;
  /** Records that the shared counters counted a request of an account. From then on only their windows apply. */
  settle(subject: string): void;
}

/**
 * Reads the given ledgers. A ban is sent with every request, so that it survives shared counters that restart empty.
 */
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
