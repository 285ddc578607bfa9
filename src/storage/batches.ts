import { type RawBuilder, sql } from 'kysely';
import { secondMs } from '../clock.ts';
import { int64Max } from '../int64.ts';
import type { Dialect } from './database.ts';

/** Time in ms above which a batch counts as slow. It is far below the server's timeout for a statement. */
const slowMs = secondMs;
/** The smallest batch is this part of the largest one. */
const shrinksMax = 50;
/** Maximum number of batches in a run. */
const batchesMax = 20;

/** Runs a job in batches until one takes fewer rows than it may. A job gets that number and returns how many it took. */
export type RunBatches = (batch: (count: bigint) => Promise<bigint>) => Promise<void>;

/**
 * Creates a run of batches of at most `max` rows. After a slow or a failed batch, the next one has half as many rows, and
 * after a quick one twice as many, also in the next run.
 */
export function createBatches(max: number): RunBatches {
  const least = Math.ceil(max / shrinksMax);
  let size = max;
  return async (batch) => {
    for (let batches = 0; batches < batchesMax; batches += 1) {
      const startedAtMs = performance.now();
      const count = size;
      // If the batch fails, the next run begins with this number.
      size = Math.max(least, Math.floor(count / 2));
      const taken = await batch(BigInt(count));
      if (performance.now() - startedAtMs <= slowMs) size = Math.min(max, count * 2);
      if (taken < count) return;
    }
  };
}

/**
 * The body of a CTE for PostgreSQL: deletes the first `count` committed rows and returns these columns of them.
 * Returns none while another transaction has the lock, which is kept until the commit. As all of it is one statement, a
 * process that stops never holds the lock.
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
        from (select id from ${sql.table(table)} where id > 0 and id < ${sql.lit(int64Max)}
          order by id limit ${count}) as oldest)
    delete from ${sql.table(table)}
    where (select is_own from turn) = 1 and id >= (select first from range) and id <= (select last from range)
    returning ${sql.raw(columns.join())})`;
}
