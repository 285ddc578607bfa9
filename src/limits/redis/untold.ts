import type { Ledgers } from '../memory/ledger.ts';
import type { Conduct } from '../rules/bans.ts';
import type { Windows } from '../rules/windows.ts';

/** What an instance has kept of an account and of one of its keys; null where there is nothing to tell. */
export interface Kept {
  readonly windows: Windows | null;
  /** Null unless the key has been banned. */
  readonly conduct: Conduct | null;
}

/** What an instance has kept of accounts and their keys, and shared counters may not know yet. */
export interface Untold {
  /** What is to be told with a request; null, as a rule, where there is nothing. */
  find(subject: string, keyId: string): Kept | null;
  /** Notes that the shared counters have counted for an account: from then on its windows are theirs alone. */
  settle(subject: string): void;
}

/** Of ledgers that were filled before. A ban is told each time: it is to outlive shared counters that come back empty. */
export function createUntold({ accounts, keys }: Ledgers): Untold {
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
