import { sql } from 'kysely';
import { AppError } from '../errors.ts';
import { expireHold } from '../pets/close-overdue-hold.ts';
import { type Database, defineWork, statement, step, type Work } from '../storage/database.ts';

const batchRows = 50n;

/** Selects expired holds in the order of their expiry, starting after `afterMs` and `afterId`. */
const selectOverdue = statement<{ afterMs: bigint; afterId: bigint; count: bigint }>()(
  (query, p, { nowMs }) =>
    query
      .selectFrom('orders')
      .select(['id', 'expires_at_ms'])
      .where('closed_at_ms', 'is', null)
      .where('expires_at_ms', '<=', nowMs)
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('expires_at_ms', 'id'), '>', tuple(p.afterMs as never, p.afterId as never)),
      )
      .orderBy('expires_at_ms')
      .orderBy('id')
      .limit(p.count),
);

/**
 * Selects those of the given holds that are still open. On PostgreSQL, locks these holds and skips holds that another
 * instance is closing.
 */
const lockOverdue = statement<{ ids: string }>()((query, p, { engine, nowMs, listIntegers }) => {
  const overdue = query
    .selectFrom('orders')
    .select(['id', 'pet_id'])
    .where('id', 'in', sql<bigint>`${listIntegers(p.ids)}`)
    .where('closed_at_ms', 'is', null)
    .where('expires_at_ms', '<=', nowMs)
    .orderBy('expires_at_ms')
    .orderBy('id');
  return engine === 'postgres' ? overdue.forUpdate().skipLocked() : overdue;
});

/**
 * Closes the given expired holds, except those that another instance is closing. Returns the number of closed holds.
 */
export const closeOverdueHolds = defineWork(
  import.meta.url,
  'closeOverdueHolds',
  function* ({ ids }: { readonly ids: readonly bigint[] }): Work<number> {
    const overdue = yield* step(lockOverdue, { ids: `[${ids.join()}]` });
    for (const { id, pet_id } of overdue) yield* expireHold(id, pet_id);
    return overdue.length;
  },
  'row locks',
);

/**
 * Closes all expired holds in the order of their expiry, at most `batchRows` in each transaction. Returns the number of
 * closed holds. Several instances can run this at the same time.
 *
 * If a hold cannot be closed, the others are still closed, and the first error is thrown at the end. `unavailable` is
 * thrown at once.
 */
export async function expireOrders(database: Database): Promise<number> {
  const failures: unknown[] = [];

  /** If a batch fails, closes its holds one by one. */
  async function close(ids: readonly bigint[]): Promise<number> {
    try {
      return await database.transact(closeOverdueHolds, { ids });
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') throw error;
      if (ids.length > 1) return closeEach(ids);
      failures.push(error);
      return 0;
    }
  }

  async function closeEach(ids: readonly bigint[]): Promise<number> {
    let closed = 0;
    for (const id of ids) closed += await close([id]);
    return closed;
  }

  let after = { afterMs: 0n, afterId: 0n };
  let closed = 0;
  for (;;) {
    const rows = await database.read(selectOverdue, { ...after, count: batchRows });
    const last = rows.at(-1);
    if (last === undefined) break;
    closed += await close(rows.map(({ id }) => id));
    after = { afterMs: last.expires_at_ms, afterId: last.id };
  }
  if (failures.length > 0) throw failures[0];
  return closed;
}
