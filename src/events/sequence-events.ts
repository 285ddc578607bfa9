import { type Database, defineWork, step, type Work } from '../storage/database.ts';
import { tryLock } from '../storage/lock-rows.ts';
import {
  copyWaiting,
  deleteWaiting,
  moveWaiting,
  selectLastWaiting,
  selectWaiting,
} from './sequence-rows.ts';

/** The most events that one transaction gives positions. */
export const sequencedEventsMax = 5_000;
/** The number of the advisory lock, which no other lock of the store has: "sequence" in ASCII. */
const sequencingLock = 0x7365_7175_656e_6365n;

/**
 * For PostgreSQL. Gives positions to a bounded number of committed events. Does nothing while another instance does
 * this. The lock lasts until the end of the transaction, so the next one sees all positions of this one. No event gets
 * a position before one that was already readable.
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

/** For SQLite, where triggers give the positions: does the same for the events in a copy of a PostgreSQL store. */
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
 * Gives positions to all events that wait for one. On PostgreSQL every instance runs it as a job, on SQLite it runs
 * once at the start. Returns how long the first event has waited, in milliseconds, or 0 if none waited.
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
