import { sql } from 'kysely';
import { secondMs } from '../clock.ts';
import { randomText } from '../random-text.ts';
import { type Database, statement } from '../storage/database.ts';

/** Time in ms for which a lease lasts after it was taken or renewed. A job rests for so long if its instance is killed. */
export const leaseMs = 20 * secondMs;
/** Interval in ms at which each instance tries to take or renew a lease. So several renewals may fail before it ends. */
export const renewalMs = 2 * secondMs;

/** A lease ensures that only one instance at a time runs a job. */
export type Lease = ReturnType<typeof createLease>;

/**
 * Creates the lease with this name for this instance. A SQLite store has only one instance, which has every lease.
 *
 * Each renewal changes the row. An instance takes a lease over once it has seen the same row for `leaseMs`. The holder
 * began its last renewal before that, so its own lease has ended then. All measure with a monotonic clock, `elapsedMs`.
 */
export function createLease(database: Database, name: string, elapsedMs = () => performance.now()) {
  const holder = randomText(16);
  let endsAtMs = 0;
  let isReleased = false;
  let renewal = Promise.resolve();
  /** The row as it was last seen. No row has these first values. */
  let seen = { holder: '', beat: -1n, sinceMs: 0 };

  /** Replaces a row of this instance, or one that has not changed for `leaseMs`. Returns true if it has done so. */
  async function replaceRow(): Promise<boolean> {
    const [row] = await database.read(selectLease, { name });
    // Without a row, nobody has the lease, so it is taken at once like one of this instance.
    const formerHolder = row?.holder ?? holder;
    const formerBeat = row?.until_ms ?? 0n;
    const hasChanged = formerHolder !== seen.holder || formerBeat !== seen.beat;
    if (hasChanged) seen = { holder: formerHolder, beat: formerBeat, sinceMs: elapsedMs() };
    if (formerHolder !== holder && elapsedMs() - seen.sinceMs < leaseMs) return false;
    const taken = await database.run(takeLease, { name, holder, formerHolder, formerBeat });
    return taken.length > 0;
  }

  async function take(): Promise<void> {
    const askedAtMs = elapsedMs();
    const hasLease = database.hasOneWriter || (await replaceRow());
    endsAtMs = hasLease ? askedAtMs + leaseMs : 0;
  }

  return {
    /** Takes or renews the lease unless another instance has it. Call it every `renewalMs`, after the last has ended. */
    renew(): Promise<void> {
      if (!isReleased) renewal = take();
      return renewal;
    },

    /** Returns for how many ms this instance still has the lease at least; 0 if it does not have it. */
    leftMs: () => (isReleased ? 0 : Math.max(0, endsAtMs - elapsedMs())),

    /** Lets another instance take the lease at once. This one never takes it again. */
    async release(): Promise<void> {
      isReleased = true;
      // A renewal that is running could take the lease again after its deletion.
      await Promise.allSettled([renewal]);
      if (!database.hasOneWriter) await database.run(deleteLease, { name, holder });
    },
  };
}

const selectLease = statement((query, p: { name: string }) =>
  query.selectFrom('leases').select(['holder', 'until_ms']).where('name', '=', p.name),
);

/**
 * Takes a lease, if its row is still the given one or there is none. Returns no row if another instance was faster. Each
 * call changes `until_ms`, which is never before the end by the store's clock: instances of release 1.1.0 wait for that.
 */
const takeLease = statement(
  (query, p: { name: string; holder: string; formerHolder: string; formerBeat: bigint }, { nowMs }) =>
    query
      .insertInto('leases')
      .values({ name: p.name, holder: p.holder, until_ms: sql<bigint>`${nowMs} + ${sql.lit(leaseMs)}` })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({
            holder: ({ ref }) => ref('excluded.holder'),
            until_ms: sql<bigint>`case when excluded.until_ms > leases.until_ms then excluded.until_ms
              else leases.until_ms + 1 end`,
          })
          .where('leases.holder', '=', p.formerHolder)
          .where('leases.until_ms', '=', p.formerBeat),
      )
      .returning('holder'),
);

const deleteLease = statement((query, p: { name: string; holder: string }) =>
  query.deleteFrom('leases').where('name', '=', p.name).where('holder', '=', p.holder),
);
