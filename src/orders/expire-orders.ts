import { AppError } from '../errors.ts';
import { expireHolds, selectOverdueHolds } from '../pets/overdue-holds.ts';
import { type Database, defineTransaction, type Steps, statement, step } from '../storage/database.ts';

const batchHolds = 50;
/** Maximum number of holds that one statement reads. */
const holdsMax = 10_000n;

/** Selects expired holds in the order of their expiry. */
const selectOverdue = statement<{ count: bigint }>()((query, p, { nowMs }) =>
  query
    .selectFrom('orders')
    .select('id')
    .where('closed_at_ms', 'is', null)
    .where('expires_at_ms', '<=', nowMs)
    .orderBy('expires_at_ms')
    .orderBy('id')
    .limit(p.count),
);

const lockStillOpen = selectOverdueHolds<{ ids: string }>('lockFreeRows', (p, { isAmong }) =>
  isAmong('orders.id', p.ids),
);

/** Closes the given expired holds, except those that another transaction has locked, and returns their number. */
export const expireGiven = defineTransaction(
  'expireGiven',
  function* ({ ids }: { readonly ids: readonly bigint[] }): Steps<number> {
    return yield* expireHolds(yield* step(lockStillOpen, { ids: `[${ids.join()}]` }));
  },
  'row locks',
);

/**
 * Closes expired holds in the order of their expiry, at most `batchHolds` in each transaction, and returns their number.
 * Several instances can run this at the same time. A hold that another transaction has locked is left for the next call.
 * If a hold cannot be closed, the others are, and the first error is thrown at the end. `unavailable` is thrown at once.
 */
export async function expireOrders(database: Database): Promise<number> {
  const failures: unknown[] = [];

  /** If a batch fails, closes its holds one by one. */
  async function close(ids: readonly bigint[]): Promise<number> {
    try {
      return await database.transact(expireGiven, { ids });
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') throw error;
      if (ids.length === 1) failures.push(error);
      return ids.length === 1 ? 0 : await closeBatches(ids, 1);
    }
  }

  async function closeBatches(ids: readonly bigint[], size: number): Promise<number> {
    let closed = 0;
    for (let from = 0; from < ids.length; from += size) closed += await close(ids.slice(from, from + size));
    return closed;
  }

  let total = 0;
  for (;;) {
    const ids = (await database.read(selectOverdue, { count: holdsMax })).map(({ id }) => id);
    const closed = await closeBatches(ids, batchHolds);
    total += closed;
    if (failures.length > 0) throw failures[0];
    if (closed === 0 || ids.length < holdsMax) return total;
  }
}
