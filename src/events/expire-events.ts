import { dayMs } from '../clock.ts';
import { type Database, defineWork, step, type Work } from '../storage/database.ts';
import { tryLock } from '../storage/lock-rows.ts';
import { deleteEvents, moveHorizon, selectExpired } from './expire-rows.ts';

/** Time for which an event is kept (contract section 13). */
export const keptMs = 30 * dayMs;
/** Maximum number of events that one transaction deletes. */
const deletedEventsMax = 1_000;
/** Number of the advisory lock: "expevent" in ASCII. No other lock of the store has this number. */
const expiryLock = 0x6578_7065_7665_6e74n;

interface Bounds {
  readonly engine: Database['engine'];
  readonly count: number;
}

/**
 * Deletes at most `count` expired events. Returns true if there may be more. On PostgreSQL, deletes nothing and returns
 * false while another instance deletes events.
 */
export const expireOnce = defineWork(
  import.meta.url,
  'expireOnce',
  function* ({ engine, count }: Bounds): Work<boolean> {
    const [lock] = engine === 'postgres' ? yield* step(tryLock, { lock: expiryLock }) : [{ is_free: true }];
    if (lock?.is_free !== true) return false;
    const [expired] = yield* step(selectExpired, { keptMs: BigInt(keptMs), count: BigInt(count) });
    const last = expired?.last;
    if (last === undefined || last === null) return false;
    yield* step(moveHorizon, { last });
    yield* step(deleteEvents, { last });
    return true;
  },
  'row locks',
);

/** Deletes all expired events, at most `count` in each transaction, so that other writes can run in between. */
export async function expireEvents(database: Database, count = deletedEventsMax): Promise<void> {
  const bounds = { engine: database.engine, count };
  for (;;) {
    // Reads first, because a transaction would block writers even if no event has expired.
    const [expired] = await database.read(selectExpired, { keptMs: BigInt(keptMs), count: 1n });
    if (typeof expired?.last !== 'bigint' || !(await database.transact(expireOnce, bounds))) return;
  }
}
