import { dayMs } from '../clock.ts';
import { type Database, defineWork, step, type Work } from '../storage/database.ts';
import { tryLock } from '../storage/lock-rows.ts';
import { deleteEvents, moveHorizon, selectExpired } from './expire-rows.ts';

/** How long an event is kept (contract section 13). */
export const keptMs = 30 * dayMs;
/** The most events that one transaction deletes. */
export const deletedEventsMax = 1_000;
/** The number of the advisory lock, which no other lock of the store has: "expevent" in ASCII. */
const expiryLock = 0x6578_7065_7665_6e74n;

interface Bounds {
  readonly engine: Database['engine'];
  readonly count: number;
}

/** Deletes a bounded number of old events. Returns whether there may be more. */
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

/** Deletes all old events, a bounded number in each transaction, so that other writes run in between. */
export async function expireEvents(database: Database, count = deletedEventsMax): Promise<void> {
  const bounds = { engine: database.engine, count };
  for (;;) {
    // This read takes no lock that writers need.
    const [expired] = await database.read(selectExpired, { keptMs: BigInt(keptMs), count: 1n });
    if (typeof expired?.last !== 'bigint' || !(await database.transact(expireOnce, bounds))) return;
  }
}
