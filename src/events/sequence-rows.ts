import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

const columns = ['at_ms', 'type', 'account_id', 'pet_id', 'data', 'previous'] as const;

/** The event that waits for its position first, in one row or none, and since when. */
export const selectWaiting = statement<Record<never, never>>()((query, _, { nowMs }) =>
  query
    .selectFrom('event_outbox')
    .select(['id', sql<bigint>`${nowMs} - at_ms`.as('waited_ms')])
    .orderBy('id')
    .limit(sql.lit(1)),
);

/**
 * For PostgreSQL: gives the oldest `count` events that are committed the next positions, in the order in which they were
 * written, and gives their number. What a transaction writes that is still open comes after it, however long it takes.
 */
export const moveWaiting = statement<{ count: bigint }>()((query, p) =>
  query
    .with('taken', (cte) =>
      cte
        .deleteFrom('event_outbox')
        .where('id', 'in', ({ selectFrom }) =>
          selectFrom('event_outbox').select('id').orderBy('id').limit(p.count),
        )
        .returning(['id', ...columns]),
    )
    .with('moved', (cte) =>
      cte
        .insertInto('events')
        .columns(columns)
        .expression(({ selectFrom }) => selectFrom('taken').select(columns).orderBy('id'))
        .returning('id'),
    )
    .selectFrom('moved')
    .select(({ fn }) => fn.countAll<bigint>().as('count')),
);

/** For SQLite: where the oldest `count` events that wait end, in one row. */
export const selectLastWaiting = statement<{ count: bigint }>()((query, p) =>
  query
    .selectFrom(({ selectFrom }) =>
      selectFrom('event_outbox').select('id').orderBy('id').limit(p.count).as('waiting'),
    )
    .select(({ fn }) => [fn.max('id').as('last'), fn.countAll<bigint>().as('count')]),
);

/** For SQLite: gives the events that wait the next positions, up to one. */
export const copyWaiting = statement<{ last: bigint }>()((query, p) =>
  query
    .insertInto('events')
    .columns(columns)
    .expression(({ selectFrom }) =>
      selectFrom('event_outbox').select(columns).where('id', '<=', p.last).orderBy('id'),
    ),
);

/** For SQLite: they wait no longer. */
export const deleteWaiting = statement<{ last: bigint }>()((query, p) =>
  query.deleteFrom('event_outbox').where('id', '<=', p.last),
);
