import { randomText } from '../accounts/api-key.ts';
import { secondMs } from '../clock.ts';
import type { Database } from '../storage/database.ts';
import { deleteLease, takeLease } from './lease-rows.ts';

/**
 * Time in ms after which a lease expires if it is not renewed. Another instance takes over at most `renewalMs` later.
 */
export const leaseMs = 20 * secondMs;
/** Interval in ms at which each instance tries to take or renew a lease. */
export const renewalMs = 2 * secondMs;

/** A lease ensures that only one instance at a time runs a job. */
export interface Lease {
  /**
   * Takes or renews the lease unless another instance has it. Call it every `renewalMs`, and not before the last call
   * has ended. After `release`, does nothing.
   */
  renew(): Promise<void>;
  /**
   * Returns the remaining time of the lease in ms, by a monotonic clock. The lease lasts at least this long. Returns 0
   * if this instance does not have the lease.
   */
  leftMs(): number;
  /** Releases the lease, so that another instance need not wait for its expiry. */
  release(): Promise<void>;
}

/**
 * Creates the lease with this name for this instance. A SQLite store has only one instance, which has every lease.
 */
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
  let isReleased = false;
  let renewal = Promise.resolve();

  async function take(): Promise<void> {
    const askedAtMs = performance.now();
    const rows = await database.run(takeLease, { name, holder, leaseMs: BigInt(leaseMs) });
    endsAtMs = rows.length > 0 ? askedAtMs + leaseMs : 0;
  }

  return {
    renew() {
      if (!isReleased) renewal = take();
      return renewal;
    },

    leftMs: () => (isReleased ? 0 : Math.max(0, endsAtMs - performance.now())),

    async release() {
      isReleased = true;
      // A renewal that is running could take the lease again after its deletion.
      await Promise.allSettled([renewal]);
      await database.run(deleteLease, { name, holder });
    },
  };
}
