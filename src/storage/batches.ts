import { type RawBuilder, sql } from 'kysely';
import { secondMs } from '../clock.ts';
import { int64Max } from '../int64.ts';
import type { Dialect } from './database.ts';

/** Time in ms above which a batch counts as slow. It is far below the server's timeout for a statement. */
const slowMs = secondMs;
/** The smallest batch is this part of the largest one. */
const shrinksMax = 50;
const batchesMax = 20;

/** At most `count` rows with ids above `after`. */
interface Range {
  readonly after: bigint;
  readonly count: bigint;
}

/** What a batch has taken, and the transactions that its snapshot has seen (`snapshotColumns`). */
interface Taken {
  readonly taken: bigint;
  readonly last: bigint;
  /** All transactions with lower ids had ended. */
  readonly running_from: bigint;
  /** No transaction with this or a higher id had begun to write. */
  readonly begun_before: bigint;
}

/** The columns of a statement that `createBatches` needs beside the rows that it took. */
export const snapshotColumns = [
  sql<bigint>`pg_snapshot_xmin(pg_current_snapshot())::text::bigint`.as('running_from'),
  sql<bigint>`pg_snapshot_xmax(pg_current_snapshot())::text::bigint`.as('begun_before'),
] as const;

/**
 * Returns a function that runs batches of at most `max` rows until one takes fewer rows than it may. After a slow or a
 * failed batch, the next one has half as many rows, and after a quick one twice as many, also in the next run. A batch
 * returns undefined if it has taken nothing.
 *
 * A batch skips the rows that were deleted by the batches before it, because the index leads to them while any
 * transaction may see them. It skips only ids that no running transaction can still commit: otherwise it would take a
 * row whose writer has waited for the writer of a skipped one.
 */
export function createBatches(max: number) {
  const least = Math.ceil(max / shrinksMax);
  let size = max;
  return async (batch: (range: Range) => Promise<Taken | undefined>): Promise<void> => {
    let after = 0n;
    let earlier: Taken | null = null;
    for (let batches = 0; batches < batchesMax; batches += 1) {
      const startedAtMs = performance.now();
      const count = size;
      // If the batch fails, the next run begins with this number.
      size = Math.max(least, Math.floor(count / 2));
      const done: Taken | undefined = await batch({ after, count: BigInt(count) });
      if (performance.now() - startedAtMs <= slowMs) size = Math.min(max, count * 2);
      if (done === undefined || done.taken < count) return;
      earlier ??= done;
      if (earlier.begun_before > done.running_from) continue;
      // The ids up to `earlier.last` were assigned before `begun_before`. This batch may have ended before that id.
      after = earlier.last < done.last ? earlier.last : done.last;
      earlier = null;
    }
  };
}

/**
 * The body of a CTE for PostgreSQL: deletes the first committed rows of a range and returns these columns of them.
 * Returns none while another transaction has the lock, which is kept until the commit. As all of it is one statement, a
 * process that stops never holds the lock.
 *
 * The planner takes the index for a range of ids with two ends, if it knows that the table has many rows. So the
 * statement must be planned each time (`isPlannedEachTime`).
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
