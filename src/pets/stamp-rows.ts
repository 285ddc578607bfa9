import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

/** Matches the events of changed and deleted animals. The partial index `events_of_edits` has the same condition. */
const isEdit = sql<boolean>`pet_id is not null and type <> 'pet.added'`;

/** Selects the highest id of an animal and the id of the newest edit. Each is null if there is none. */
export const selectStamp = statement<Record<never, never>>()((query) =>
  query.selectNoFrom(({ selectFrom }) => [
    selectFrom('pets').select('id').orderBy('id', 'desc').limit(sql.lit(1)).as('newest_id'),
    selectFrom('events').select('id').where(isEdit).orderBy('id', 'desc').limit(sql.lit(1)).as('newest_edit'),
  ]),
);

/** For SQLite. Selects the newest `count` edits with an event id above `after`, newest first. */
export const selectEditsAfter = statement<{ after: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('events')
    .select([
      'id',
      sql<bigint>`pet_id`.as('pet_id'),
      sql<string>`data ->> 'status'`.as('status'),
      sql<string>`coalesce(previous, data) ->> 'status'`.as('former_status'),
      sql<bigint>`data ->> 'category_id'`.as('category_id'),
      sql<bigint>`coalesce(previous, data) ->> 'category_id'`.as('former_category_id'),
    ])
    .where(isEdit)
    .where('id', '>', p.after)
    .orderBy('id', 'desc')
    .limit(p.count),
);

/** For SQLite. Selects the position up to which events are deleted. */
export const selectDeletedTo = statement<Record<never, never>>()((query) =>
  query.selectFrom('event_horizon').select('deleted_to'),
);

/**
 * A row of `selectLogSince`: the state of the store and one edit. Without edits, the statement returns one row whose
 * edit columns are null.
 */
export interface LogRow {
  readonly snapshot: string;
  /** The highest position of the feed, even if its event is deleted. */
  readonly last_event: bigint;
  /** All events up to this position are deleted. */
  readonly deleted_to: bigint;
  readonly started_at: string;
  readonly pet_id: bigint | null;
  readonly status: string | null;
  readonly former_status: string | null;
  readonly category_id: bigint | null;
  readonly former_category_id: bigint | null;
}

/** The highest transaction id. This upper bound makes PostgreSQL estimate a narrow range and use the index. */
const newest = sql`'18446744073709551615'::xid8`;

/**
 * For PostgreSQL. Selects at most `count` additions, changes and deletions of animals that were committed since
 * `snapshot`. The rows are unordered, and each has the current snapshot.
 *
 * - `after` is the last position of the feed when `snapshot` was taken. An event with a higher position is not new if
 *   `snapshot` contains the transaction of the event. Only the position of such an event is new.
 * - `started_at` is the start time of the server. It changes after a restart and on another server.
 */
export const selectLogSince = statement<{ snapshot: string; after: bigint; count: bigint }>()((query, p) => {
  const since = sql`cast(${p.snapshot} as pg_snapshot)`;
  const columns = sql`pet_id, data::json as now, coalesce(previous, data)::json as former`;
  return query
    .selectFrom(
      sql<Pick<LogRow, 'snapshot' | 'last_event' | 'deleted_to' | 'started_at'>>`(select
        pg_current_snapshot()::text as snapshot,
        greatest(deleted_to, (select max(id) from events)) as last_event,
        deleted_to,
        extract(epoch from pg_postmaster_start_time())::text as started_at
        from event_horizon)`.as('head'),
    )
    .leftJoin(
      sql<{ pet_id: bigint; now: unknown; former: unknown }>`(
        (select ${columns} from event_outbox
          where tx >= pg_snapshot_xmin(${since}) and tx <= ${newest}
          and not pg_visible_in_snapshot(tx, ${since}) and pet_id is not null
          order by tx limit ${p.count})
        union all
        (select ${columns} from events
          where id > ${p.after} and not coalesce(pg_visible_in_snapshot(tx, ${since}), false) and pet_id is not null
          order by id limit ${p.count}))`.as('edit'),
      (join) => join.onTrue(),
    )
    .select([
      'snapshot',
      'last_event',
      'deleted_to',
      'started_at',
      'pet_id',
      sql<string>`now ->> 'status'`.as('status'),
      sql<string>`former ->> 'status'`.as('former_status'),
      sql<bigint>`(now ->> 'category_id')::bigint`.as('category_id'),
      sql<bigint>`(former ->> 'category_id')::bigint`.as('former_category_id'),
    ])
    .limit(p.count)
    .$castTo<LogRow>();
});
