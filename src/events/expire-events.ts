import { sql } from 'kysely';
import { dayMs } from '../clock.ts';
import { type Database, type Steps, statement, step, transaction } from '../storage/database.ts';

/** Time for which an event is kept, as docs/events.md promises. */
export const keptMs = 30 * dayMs;
/** Maximum number of events that one transaction deletes, so that other writes soon get their turn. */
const deletedEventsMax = 1_000;

/** The first id to keep: that of the first young event, or one after the last event if none of them is young. */
const firstKept = sql`coalesce((select min(id) from oldest where is_young), (select max(id) + 1 from oldest))`;

/** Selects the bounds of the next events to delete, all older than `keptMs`, or nulls. Reads at most `count` events. */
const selectExpired = statement((query, p: { count: bigint }, { nowMs }) =>
  query
    .with('oldest', (cte) =>
      cte
        .selectFrom('events')
        .select(['id', sql<boolean>`at_ms > ${nowMs} - ${sql.lit(keptMs)}`.as('is_young')])
        .where('id', '>', ({ selectFrom }) => selectFrom('event_horizon').select('deleted_to'))
        .orderBy('id')
        .limit(p.count),
    )
    .selectFrom('oldest')
    .select(({ fn }) => [fn.min('id').as('first'), fn.max('id').as('last')])
    .where(sql<boolean>`id < ${firstKept}`),
);

const moveHorizon = statement((query, p: { last: bigint }) =>
  query.updateTable('event_horizon').set({ deleted_to: p.last }).where('deleted_to', '<', p.last),
);

/** PostgreSQL takes the index for a range with two ends, also in a plan for any positions (a generic plan). */
const deleteEvents = statement((query, p: { first: bigint; last: bigint }) =>
  query.deleteFrom('events').where('id', '>=', p.first).where('id', '<=', p.last),
);

/** Deletes the oldest events if they have expired, at most `count`. Returns true if there may be more. */
export const deleteExpired = transaction(
  'deleteExpired',
  'row locks',
  function* (count: number): Steps<boolean> {
    const [expired] = yield* step(selectExpired, { count: BigInt(count) });
    const first = expired?.first ?? null;
    const last = expired?.last ?? null;
    if (first === null || last === null) return false;
    // The row of the horizon makes instances that delete at the same time wait for each other.
    yield* step(moveHorizon, { last });
    yield* step(deleteEvents, { first, last });
    return true;
  },
);

/** Deletes all expired events, at most `count` in each transaction, so that other writes can run in between. */
export async function expireEvents(database: Database, count = deletedEventsMax): Promise<void> {
  let mayHaveMore = true;
  while (mayHaveMore) mayHaveMore = await database.transact(deleteExpired, count);
}
