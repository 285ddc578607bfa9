import { sql } from 'kysely';
import { type Dialect, statement } from '../storage/database.ts';

type Step = { keptMs: bigint; count: bigint };

const isYoung = (p: Step, { nowMs }: Dialect) => sql<boolean>`at_ms > ${nowMs} - ${p.keptMs}`;

/**
 * Selects the position up to which events may be deleted. All events up to `last` are older than `keptMs`. `last` is
 * null if there are no such events. The statement reads at most `count` events and starts after the deleted events.
 */
export const selectExpired = statement<Step>()((query, p, dialect) =>
  query
    .with('oldest', (cte) =>
      cte
        .selectFrom('events')
        .select(['id', isYoung(p, dialect).as('is_young')])
        .where('id', '>', ({ selectFrom }) => selectFrom('event_horizon').select('deleted_to'))
        .orderBy('id')
        .limit(p.count),
    )
    .selectFrom('oldest')
    .select(({ fn }) => fn.max('id').as('last'))
    .where(
      sql<boolean>`id < coalesce((select min(id) from oldest where is_young), (select max(id) + 1 from oldest))`,
    ),
);

/** Stores the position up to which events are deleted. */
export const moveHorizon = statement<{ last: bigint }>()((query, p) =>
  query.updateTable('event_horizon').set({ deleted_to: p.last }).where('deleted_to', '<', p.last),
);

export const deleteEvents = statement<{ last: bigint }>()((query, p) =>
  query.deleteFrom('events').where('id', '<=', p.last),
);
