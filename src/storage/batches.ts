import { type RawBuilder, sql } from 'kysely';
import { secondMs } from '../clock.ts';
import { int64Max } from '../int64.ts';
import type { Dialect } from './database.ts';

/** Time in ms above which a batch counts as slow. It is far below the server's timeout for a statement. */
const slowMs = secondMs;
/** The smallest batch is this part of the largest one. */
const shrinksMax = 50;
/** Maximum number of batches in a run. The next run begins at the first row again. */
const batchesMax = 20;

/** Runs a job in batches until one takes fewer rows than it may. */
export type RunBatches = (batch: (range: Range) => Promise<Taken>) => Promise<void>;

/** At most `count` rows with ids above `after`. */
interface Range {
  readonly after: bigint;
  readonly count: bigint;
}

/** The number of rows that a batch has taken, and the last of their ids. */
interface Taken {
  readonly taken: bigint;
  readonly last: bigint | null;
}

/**
 * Creates a run of batches of at most `max` rows. After a slow or a failed batch, the next one has half as many rows,
 * also in the next run. After a quick one, it has twice as many.
 */
export function createBatches(max: number): RunBatches {
  const least = Math.ceil(max / shrinksMax);
  let size = max;
  return async (batch) => {
    let after = 0n;
    for (let batches = 0; batches < batchesMax; batches += 1) {
      const startedAtMs = performance.now();
      const count = size;
      // If the batch fails, the next run begins with this number.
      size = Math.max(least, Math.floor(count / 2));
      const { taken, last } = await batch({ after, count: BigInt(count) });
      if (performance.now() - startedAtMs <= slowMs) size = Math.min(max, count * 2);
      if (taken < count || last === null) return;
      after = last;
    }
  };
}

/**
 * The body of a CTE for PostgreSQL: deletes the first committed rows of a range and returns these columns of them.
 * Returns none while another transaction has the lock, which is kept until the commit. As all of it is one statement, a
 * process that stops never holds the lock.
 *
 * The planner takes the index for a range of ids with two ends, if it knows that the table has many rows. So the
 * statement must be planned each time (`isPlannedEachTime`). It starts after the batch before it, because the index
 * leads to deleted rows for as long as any transaction may see them.
 */
export function takeOldest<R>(
  table: 'event_outbox' | 'inventory_changes',
  columns: readonly string[],
  { lock, after, count }: Range & { readonly lock: bigint },
  { tryLock }: Dialect,
): RawBuilder<R> {
  return sql<R>`(
    with turn as materialized (select ${tryLock(lock)} as is_own),
      range as materialized (select min(id) as first, max(id) as last
        from (select id from ${sql.table(table)} where id > ${after} and id < ${sql.lit(int64Max)}
          order by id limit ${count}) as oldest)
    delete from ${sql.table(table)}
    where (select is_own from turn) = 1 and id >= (select first from range) and id <= (select last from range)
    returning ${sql.raw(columns.join())})`;
}
