import { sql } from 'kysely';
import { type Database, defineTransaction, type Steps, statement, step } from '../storage/database.ts';
import { tryLock } from '../storage/lock-rows.ts';

/** Maximum number of events that get their positions in one transaction. */
const sequencedEventsMax = 5_000;
/** Number of the advisory lock: "sequence" in ASCII. No other lock of the store has this number. */
const sequencingLock = 0x7365_7175_656e_6365n;

const columns = ['at_ms', 'type', 'account_id', 'pet_id', 'data', 'previous'] as const;
/** On PostgreSQL, an event also has the id of its transaction. */
const allColumns = sql.raw([...columns, 'tx'].join());

/** Selects the age in milliseconds of the oldest event without a position. */
const selectWaiting = statement<Record<never, never>>()((query, _, { nowMs }) =>
  query
    .selectFrom('event_outbox')
    .select(sql<bigint>`${nowMs} - at_ms`.as('waited_ms'))
    .orderBy('id')
    .limit(sql.lit(1)),
);

/** Selects the last id of the `count` oldest events without a position, and how many these events are. */
const selectLastWaiting = statement<{ count: bigint }>()((query, p) =>
  query
    .selectFrom(({ selectFrom }) =>
      selectFrom('event_outbox').select('id').orderBy('id').limit(p.count).as('waiting'),
    )
    .select(({ fn }) => [fn.max('id').as('last'), fn.countAll<bigint>().as('count')]),
);

/**
 * For PostgreSQL. Moves the committed events with ids up to `last` into the feed, in the order in which they were
 * written. The range of ids is planned as an index scan, however many rows the table had when the plan was made. It is
 * one statement, because another transaction may commit an event of the range between two statements.
 */
const moveWaiting = statement<{ last: bigint }>()((query, p) =>
  query
    .with(
      'taken',
      () => sql<{ id: bigint }>`(delete from event_outbox where id <= ${p.last} returning id, ${allColumns})`,
    )
    .with(
      'moved',
      () => sql<{ id: bigint }>`(insert into events (${allColumns})
        select ${allColumns} from taken order by id
        returning id)`,
    )
    .selectFrom('moved')
    .select(({ fn }) => fn.countAll<bigint>().as('count')),
);

const copyWaiting = statement<Record<never, never>>()((query) =>
  query
    .insertInto('events')
    .columns(columns)
    .expression(({ selectFrom }) => selectFrom('event_outbox').select(columns).orderBy('id')),
);

const deleteWaiting = statement<Record<never, never>>()((query) => query.deleteFrom('event_outbox'));

/**
 * For PostgreSQL. Assigns positions to about `count` committed events and returns the number of these events. While
 * another instance assigns positions, does nothing and returns 0.
 *
 * The lock is held until the transaction ends, so the next transaction sees all assigned positions. No event gets a
 * position before an event that could already be read. Events of a transaction that is still open get later positions.
 */
export const sequenceOnce = defineTransaction(
  'sequenceOnce',
  function* ({ count }: { readonly count: number }): Steps<number> {
    const [lock] = yield* step(tryLock, { lock: sequencingLock });
    if (lock?.is_free !== true) return 0;
    const [waiting] = yield* step(selectLastWaiting, { count: BigInt(count) });
    const last = waiting?.last;
    if (last === undefined || last === null) return 0;
    const [moved] = yield* step(moveWaiting, { last });
    return Number(moved?.count ?? 0);
  },
  'row locks',
);

/**
 * For SQLite. Triggers assign the positions there, so only a copy of a PostgreSQL store has events without positions:
 * those of the last moment before the copy.
 */
export const sequenceCopied = defineTransaction(
  'sequenceCopied',
  function* (): Steps<number> {
    yield* step(copyWaiting, {});
    yield* step(deleteWaiting, {});
    return 0;
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
