import { type RawBuilder, sql } from 'kysely';
import { int64Max } from '../int64.ts';
import type { Dialect } from './dialect.ts';

/** The parameters of a statement with `takeOldest`. */
export type Batch = {
  /** The number of the advisory lock of all who take rows of this table. */
  readonly lock: bigint;
  readonly count: bigint;
};

/**
 * The body of a CTE for PostgreSQL: deletes the `count` oldest committed rows of a table and returns these columns of them.
 * Returns none while another transaction has the lock, which is kept until the commit. As all of it is one statement, a
 * process that stops never holds the lock. A batch must end within the server's timeout for a statement.
 *
 * It begins at the oldest row each time: if a transaction commits a row between two batches, the next one takes this row
 * before those of transactions that have waited for it.
 *
 * The planner takes the index for a range of ids with two ends, if it knows that the table has many rows. So the
 * statement must be planned each time (`isPlannedEachTime`).
 */
export function takeOldest<R>(
  table: 'event_outbox' | 'inventory_changes',
  columns: readonly string[],
  { lock, count }: Batch,
  { tryLock }: Dialect,
): RawBuilder<R> {
  return sql<R>`(
    with own_lock as materialized (select ${tryLock(lock)} as is_own),
      range as materialized (select min(id) as first, max(id) as last
        from (select id from ${sql.table(table)} where id > 0 and id < ${sql.lit(int64Max)}
          order by id limit ${count}) as oldest)
    delete from ${sql.table(table)}
    where (select is_own from own_lock) = 1 and id >= (select first from range) and id <= (select last from range)
    returning ${sql.raw(columns.join())})`;
}
