import { type RawBuilder, sql } from 'kysely';
import type { Dialect } from './database.ts';

/** Time in ms above which a batch counts as slow. It is far below the server's timeout for a statement. */
const slowMs = 500;
/** The smallest batch is this part of the largest one. */
const shrinksMax = 50;

/** Runs a job in batches until one handles fewer rows than it may. `batch` returns the number of rows that it handled. */
export type RunBatches = (batch: (count: bigint) => Promise<number>) => Promise<void>;

/**
 * Creates a run of batches of at most `max` rows. After a slow or a failed batch, the next one has half as many rows,
 * also in the next run. After a quick one, it has twice as many.
 */
export function createBatches(max: number): RunBatches {
  const least = Math.ceil(max / shrinksMax);
  let count = max;
  return async (batch) => {
    for (;;) {
      const startedAtMs = performance.now();
      const current = count;
      // If the batch fails, the next run begins with this number.
      count = Math.max(least, Math.floor(current / 2));
      const handled = await batch(BigInt(current));
      if (performance.now() - startedAtMs <= slowMs) count = Math.min(max, current * 2);
      if (handled < current) return;
    }
  };
}

/**
 * The body of a CTE for PostgreSQL: deletes the `count` oldest committed rows of a table and returns these columns of
 * them. Returns none while another transaction has the lock, which is kept until the commit. As all of it is one
 * statement, a process that stops never holds the lock.
 *
 * The planner takes the index for a range of ids with two ends, if it knows that the table has many rows. So the
 * statement must be planned each time (`isPlannedEachTime`).
 */
export function takeOldest<R>(
  table: 'event_outbox' | 'inventory_changes',
  columns: readonly string[],
  { lock, count }: { readonly lock: bigint; readonly count: bigint },
  { tryLock }: Dialect,
): RawBuilder<R> {
  return sql<R>`(
    with turn as materialized (select ${tryLock(lock)} as is_own),
      range as materialized (select min(id) as first, max(id) as last
        from (select id from ${sql.table(table)} order by id limit ${count}) as oldest)
    delete from ${sql.table(table)}
    where (select is_own from turn) = 1 and id >= (select first from range) and id <= (select last from range)
    returning ${sql.raw(columns.join())})`;
}
