import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

const columns = ['at_ms', 'type', 'account_id', 'pet_id', 'data', 'previous'] as const;

/** On PostgreSQL an event also has its transaction. */
const allColumns = sql.raw([...columns, 'tx'].join());

/** The event that waits longest for its position, if there is one, and for how long. */
export const selectWaiting = statement<Record<never, never>>()((query, _, { nowMs }) =>
  query
    .selectFrom('event_outbox')
    .select(['id', sql<bigint>`${nowMs} - at_ms`.as('waited_ms')])
    .orderBy('id')
    .limit(sql.lit(1)),
);

/**
 * For PostgreSQL: gives the oldest `count` committed events the next positions, in the order in which they were
 * written. Returns their number. Events of an open transaction come later, however long it takes.
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

/** For SQLite: the last of the oldest `count` waiting events. */
export const selectLastWaiting = statement<{ count: bigint }>()((query, p) =>
  query
    .selectFrom(({ selectFrom }) =>
      selectFrom('event_outbox').select('id').orderBy('id').limit(p.count).as('waiting'),
    )
    .select(({ fn }) => [fn.max('id').as('last'), fn.countAll<bigint>().as('count')]),
);

/** For SQLite: gives the waiting events up to `last` the next positions. */
export const copyWaiting = statement<{ last: bigint }>()((query, p) =>
  query
    .insertInto('events')
    .columns(columns)
    .expression(({ selectFrom }) =>
      selectFrom('event_outbox').select(columns).where('id', '<=', p.last).orderBy('id'),
    ),
);

/** For SQLite: removes these events from the waiting ones. */
export const deleteWaiting = statement<{ last: bigint }>()((query, p) =>
  query.deleteFrom('event_outbox').where('id', '<=', p.last),
);
