import { sql } from 'kysely';
import { type Database, type Steps, statement, step, transaction } from '../storage/database.ts';
import { type Batch, takeOldest } from '../storage/take-oldest.ts';

/** Maximum number of events that get their positions in one transaction, in about 0.1 s. */
const sequencedEventsMax = 10_000;
/** Number of the advisory lock: "sequence" in ASCII. No other lock of the store has this number. */
const sequencingLock = 0x7365_7175_656e_6365n;

const columns = ['at_ms', 'type', 'account_id', 'pet_id', 'data', 'previous'] as const;
const allColumns = sql.raw(columns.join());

/** Selects the age in milliseconds of the oldest event without a position. */
const selectWaiting = statement(
  (query, _, { nowMs }) =>
    query
      .selectFrom('event_outbox')
      .select(sql<bigint>`${nowMs} - at_ms`.as('waited_ms'))
      .orderBy('id')
      .limit(sql.lit(1)),
  { isPlannedEachTime: true },
);

/**
 * For PostgreSQL. Moves the first committed events into the feed, in the order of their writes, unless another instance
 * does so. Its lock is held until the commit, so no event gets a position before one that could be read. Returns their
 * number.
 */
export const moveWaiting = statement(
  (query, p: Batch, dialect) =>
    query
      .with('taken', () => takeOldest<{ id: bigint }>('event_outbox', ['id', ...columns], p, dialect))
      .with(
        'moved',
        () => sql<{ id: bigint }>`(insert into events (${allColumns})
        select ${allColumns} from taken order by id
        returning id)`,
      )
      .selectFrom('moved')
      .select(({ fn }) => fn.countAll<bigint>().as('count')),
  { isPlannedEachTime: true },
);

const copyWaiting = statement((query) =>
  query
    .insertInto('events')
    .columns(columns)
    .expression(({ selectFrom }) => selectFrom('event_outbox').select(columns).orderBy('id')),
);

const deleteWaiting = statement((query) => query.deleteFrom('event_outbox'));

/** For SQLite. Only a copy of a PostgreSQL store has events without positions: those of the moment before the copy. */
export const sequenceCopied = transaction('sequenceCopied', 'row locks', function* (): Steps<void> {
  yield* step(copyWaiting, {});
  yield* step(deleteWaiting, {});
});

/**
 * Assigns positions to all events without one, `count` in each transaction. Before each, `noteLag` gets the age of the oldest
 * of them in ms, or 0.
 */
export async function sequenceEvents(
  database: Database,
  noteLag: (ms: number) => void = () => undefined,
  count = sequencedEventsMax,
): Promise<void> {
  for (let moved = count; moved === count; ) {
    const [first] = await database.read(selectWaiting, {});
    noteLag(Number(first?.waited_ms ?? 0));
    if (first === undefined) return;
    if (database.hasOneWriter) return database.transact(sequenceCopied, null);
    const [done] = await database.run(moveWaiting, { lock: sequencingLock, count: BigInt(count) });
    moved = Number(done?.count);
  }
}
