import { type Database, defineWork, step, type Work } from '../storage/database.ts';
import { tryLock } from '../storage/lock-rows.ts';
import {
  copyWaiting,
  deleteWaiting,
  moveWaiting,
  selectLastWaiting,
  selectWaiting,
} from './sequence-rows.ts';

/** Maximum number of events that get their positions in one transaction. */
const sequencedEventsMax = 5_000;
/** Number of the advisory lock: "sequence" in ASCII. No other lock of the store has this number. */
const sequencingLock = 0x7365_7175_656e_6365n;

/**
 * For PostgreSQL. Assigns positions to at most `count` committed events and returns the number of these events. While
 * another instance assigns positions, does nothing and returns 0.
 *
 * The lock is held until the transaction ends, so the next transaction sees all assigned positions. No event gets a
 * position before an event that could already be read.
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

/**
 * For SQLite. Triggers assign the positions there, so only a copy of a PostgreSQL store has events without positions.
 * Assigns positions to at most `count` of these events. Returns the number of events that got a position.
 */
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
 * Assigns positions to all events without a position. On PostgreSQL, every instance runs this as a job. On SQLite, it
 * runs once at startup. Before that, calls `noteLag` with the age of the oldest of these events in milliseconds, or 0
 * if there are none. So the age is known even if no position can be assigned.
 */
export async function sequenceEvents(
  database: Database,
  count = sequencedEventsMax,
  noteLag: (ms: number) => void = () => undefined,
): Promise<void> {
  const [first] = await database.read(selectWaiting, {});
  noteLag(Number(first?.waited_ms ?? 0));
  if (first === undefined) return;
  const work = database.engine === 'postgres' ? sequenceOnce : sequenceCopied;
  let moved: number;
  do moved = await database.transact(work, { count });
  while (moved >= count);
}
