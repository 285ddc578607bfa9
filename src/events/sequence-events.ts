import { type Database, defineWork, step, type Work } from '../storage/database.ts';
import { tryLock } from '../storage/lock-rows.ts';
import {
  copyWaiting,
  deleteWaiting,
  moveWaiting,
  selectLastWaiting,
  selectWaiting,
} from './sequence-rows.ts';

/** How many events one transaction gives their positions. */
export const sequencedEventsMax = 5_000;
/** Known by no other lock of the store: "sequence" in ASCII. */
const sequencingLock = 0x7365_7175_656e_6365n;

/**
 * For PostgreSQL: gives a bounded number of committed events their positions; none while another instance does. Its
 * lock is held to the end of the transaction, so the next one begins with everything that this one has made readable, and
 * no event comes to stand before one that could be read already.
 */
export const sequenceOnce = defineWork(
  import.meta.url,
  'sequenceOnce',
  function* ({ count }: { readonly count: number }): Work<number> {
    const [lock] = yield* step(tryLock, { lock: sequencingLock });
    if (lock?.is_free !== true) return 0;
    const [moved] = yield* step(moveWaiting, { count: BigInt(count) });
    return Number(moved?.count ?? 0);
  },
  'row locks',
);

/** For SQLite, where triggers give the positions: does the same for what a copy of a PostgreSQL store has brought. */
export const sequenceCopied = defineWork(
  import.meta.url,
  'sequenceCopied',
  function* ({ count }: { readonly count: number }): Work<number> {
    const [waiting] = yield* step(selectLastWaiting, { count: BigInt(count) });
    const last = waiting?.last;
    if (last === undefined || last === null) return 0;
    yield* step(copyWaiting, { last });
    yield* step(deleteWaiting, { last });
    return Number(waiting?.count ?? 0);
  },
  'row locks',
);

/**
 * Gives every event that waits for one its position: on PostgreSQL a job of every instance, on SQLite once at the start.
 * Gives how long the first has waited, in milliseconds; 0 where there was none.
 */
export async function sequenceEvents(database: Database, count = sequencedEventsMax): Promise<number> {
  const [first] = await database.read(selectWaiting, {});
  if (first === undefined) return 0;
  const work = database.engine === 'postgres' ? sequenceOnce : sequenceCopied;
  let moved: number;
  do moved = await database.transact(work, { count });
  while (moved >= count);
  return Number(first.waited_ms);
}
