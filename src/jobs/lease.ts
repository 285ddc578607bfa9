import { randomText } from '../accounts/api-key.ts';
import { secondMs } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { deleteLease, takeLease } from './lease-rows.ts';

/** How long a lease lasts after a renewal. Another instance takes over at most `renewalMs` later. */
export const leaseMs = 20 * secondMs;
/** How often each instance tries to take or renew a lease. */
export const renewalMs = 2 * secondMs;

/** The right to do a piece of work that one instance does at a time. */
export interface Lease {
  /** Takes or renews the lease unless another instance has it. Each instance calls it every `renewalMs`. */
  renew(): Promise<void>;
  /** How many milliseconds of the lease are certainly left, by a monotonic clock. 0 while another instance has it. */
  leftMs(): number;
  /** Releases the lease, so that another instance need not wait. */
  release(): Promise<void>;
}

/** The lease of that name on a store, for this instance. A SQLite store has one instance, which holds every lease. */
export function createLease(database: Database, name: string): Lease {
  return database.engine === 'sqlite' ? createOwnLease() : createSharedLease(database, name);
}

function createOwnLease(): Lease {
  let isHeld = true;
  return {
    renew: () => Promise.resolve(),
    leftMs: () => (isHeld ? leaseMs : 0),
    release() {
      isHeld = false;
      return Promise.resolve();
    },
  };
}

function createSharedLease(database: Database, name: string): Lease {
  const holder = randomText(16);
  let endsAtMs = 0;

  return {
    async renew() {
      const askedAtMs = performance.now();
      const rows = await database.run(takeLease, { name, holder, leaseMs: BigInt(leaseMs) });
      endsAtMs = rows.length > 0 ? askedAtMs + leaseMs : 0;
    },

    leftMs: () => Math.max(0, endsAtMs - performance.now()),

    async release() {
      endsAtMs = 0;
      await database.run(deleteLease, { name, holder });
    },
  };
}
