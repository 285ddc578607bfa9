import { AppError } from '../errors.ts';
import { expireHolds, selectOverdueHolds } from '../pets/close-overdue-hold.ts';
import { type Database, defineTransaction, type Steps, statement, step } from '../storage/database.ts';

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

const lockStillOpen = selectOverdueHolds<{ ids: string }>('lockFreeRows', (p, { isAmong }) =>
  isAmong('orders.id', p.ids),
);

/**
 * Closes the given expired holds, except those whose order or animal another transaction has locked. Returns the number
 * of closed holds.
 */
export const expireGiven = defineTransaction(
  'expireGiven',
  function* ({ ids }: { readonly ids: readonly bigint[] }): Steps<number> {
    return yield* expireHolds(yield* step(lockStillOpen, { ids: `[${ids.join()}]` }));
  },
  'row locks',
);

/**
 * Closes all expired holds in the order of their expiry, at most `batchRows` in each transaction. Returns the number of
 * closed holds. Several instances can run this at the same time.
 *
 * A hold is left for the next call if another transaction has locked its order or its animal. If a hold cannot be
 * closed, the others are still closed, and the first error is thrown at the end. `unavailable` is thrown at once.
 */
export async function expireOrders(database: Database): Promise<number> {
  const failures: unknown[] = [];

  /** If a batch fails, closes its holds one by one. */
  async function closeBatch(ids: readonly bigint[]): Promise<number> {
    try {
      return await database.transact(expireGiven, { ids });
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') throw error;
      if (ids.length === 1) failures.push(error);
    }
    if (ids.length === 1) return 0;
    let closed = 0;
    for (const id of ids) closed += await closeBatch([id]);
    return closed;
  }

  let after = { afterMs: 0n, afterId: 0n };
  let closed = 0;
  for (;;) {
    const rows = await database.read(selectOverdue, { ...after, count: batchRows });
    const last = rows.at(-1);
    if (last === undefined) break;
    closed += await closeBatch(rows.map(({ id }) => id));
    after = { afterMs: last.expires_at_ms, afterId: last.id };
  }
  if (failures.length > 0) throw failures[0];
  return closed;
}
