import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

const columns = ['at_ms', 'type', 'account_id', 'pet_id', 'data', 'previous'] as const;

/** On PostgreSQL, an event also has the id of its transaction. */
const allColumns = sql.raw([...columns, 'tx'].join());

/** Selects the oldest event without a position, and its age in milliseconds. */
export const selectWaiting = statement<Record<never, never>>()((query, _, { nowMs }) =>
  query
    .selectFrom('event_outbox')
    .select(['id', sql<bigint>`${nowMs} - at_ms`.as('waited_ms')])
    .orderBy('id')
    .limit(sql.lit(1)),
);

/**
 * For PostgreSQL. Assigns the next positions to the oldest `count` committed events, in the order in which they were
 * written. Returns the number of these events. Events of a transaction that is still open get later positions.
 */
export const moveWaiting = statement<{ count: bigint }>()((query, p) =>
  query
    .with(
      'taken',
      () => sql<{ id: bigint }>`(delete from event_outbox
        where id in (select id from event_outbox order by id limit ${p.count})
        returning id, ${allColumns})`,
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

/**
 * For SQLite. Reads the oldest events without a position, at most `count`. Selects the last id of these events, and how
 * many they are.
 */
export const selectLastWaiting = statement<{ count: bigint }>()((query, p) =>
  query
    .selectFrom(({ selectFrom }) =>
      selectFrom('event_outbox').select('id').orderBy('id').limit(p.count).as('waiting'),
    )
    .select(({ fn }) => [fn.max('id').as('last'), fn.countAll<bigint>().as('count')]),
);

/** For SQLite. Copies the events up to `last` into the feed, where they get the next positions. */
export const copyWaiting = statement<{ last: bigint }>()((query, p) =>
  query
    .insertInto('events')
    .columns(columns)
    .expression(({ selectFrom }) =>
      selectFrom('event_outbox').select(columns).where('id', '<=', p.last).orderBy('id'),
    ),
);

/** For SQLite. Deletes the events up to `last` that `copyWaiting` has copied. */
export const deleteWaiting = statement<{ last: bigint }>()((query, p) =>
  query.deleteFrom('event_outbox').where('id', '<=', p.last),
);
