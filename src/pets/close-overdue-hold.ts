import { sql } from 'kysely';
import { statement, step, type Work } from '../storage/database.ts';

/**
 * The reserved order of an animal, if its hold has expired by the store's clock. PostgreSQL locks its row until the
 * transaction ends.
 */
export const selectOverdueHold = statement<{ petId: bigint }>()((query, p, { engine, nowMs }) => {
  const overdue = query
    .selectFrom('orders')
    .select('id')
    .where('pet_id', '=', p.petId)
    .where('status', '=', sql.lit('reserved'))
    // Exactly the condition of the index `orders_owning`. SQLite uses the index for no other condition.
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
 * For a work with row locks: closes the expired hold of an animal and frees the animal. Returns whether there was one.
 * It locks the order before the animal, so call it before any step that locks the animal.
 */
export function* closeOverdueHold(petId: bigint): Work<boolean> {
  const [order] = yield* step(selectOverdueHold, { petId });
  if (order === undefined) return false;
  yield* expireHold(order.id, petId);
  return true;
}

/**
 * For a work that has locked an order with an expired hold: frees the animal, then sets the order to expired at the end
 * of its hold. The events have the same order.
 */
export function* expireHold(orderId: bigint, petId: bigint): Work<void> {
  yield* step(freePet, { petId });
  yield* step(expireOrder, { orderId });
}
