import { sql } from 'kysely';
import { statement, step, type Work } from '../storage/database.ts';

/**
 * Selects the reserved order of an animal if its hold has expired by the store's clock. On PostgreSQL, locks the row of
 * the order until the transaction ends.
 */
export const selectOverdueHold = statement<{ petId: bigint }>()((query, p, { engine, nowMs }) => {
  const overdue = query
    .selectFrom('orders')
    .select('id')
    .where('pet_id', '=', p.petId)
    .where('status', '=', sql.lit('reserved'))
    // Repeats the condition of the partial index `orders_owning`. SQLite uses the index only for this exact condition.
    .where(sql<boolean>`status in ('reserved', 'completed')`)
    .where('expires_at_ms', '<=', nowMs);
  return engine === 'postgres' ? overdue.forUpdate() : overdue;
});

const freePet = statement<{ petId: bigint }>()((query, p) =>
  query
    .updateTable('pets')
    .set({ status: sql.lit('available'), is_owned: sql<bigint>`0` })
    .where('id', '=', p.petId),
);

const expireOrder = statement<{ orderId: bigint }>()((query, p) =>
  query
    .updateTable('orders')
    .set({ status: sql.lit('expired'), closed_at_ms: sql<bigint>`expires_at_ms` })
    .where('id', '=', p.orderId),
);

/**
 * Part of a transaction with row locks. If the animal has an overdue hold, closes the hold, makes the animal available
 * and returns true.
 *
 * Call it before any step that locks the animal. All transactions lock an order before its animal, so that they cannot
 * deadlock.
 */
export function* closeOverdueHold(petId: bigint): Work<boolean> {
  const [order] = yield* step(selectOverdueHold, { petId });
  if (order === undefined) return false;
  yield* expireHold(order.id, petId);
  return true;
}

/**
 * Part of a transaction that has locked an order with an expired hold. Makes the animal available, then sets the order
 * to `expired` as of the end of its hold. The events of the two changes are written in this order.
 */
export function* expireHold(orderId: bigint, petId: bigint): Work<void> {
  yield* step(freePet, { petId });
  yield* step(expireOrder, { orderId });
}
