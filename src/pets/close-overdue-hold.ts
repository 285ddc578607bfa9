import { sql } from 'kysely';
import { statement, step, type Work } from '../storage/database.ts';

/**
 * The reserved order of an animal, if its hold is over by the store's clock, in one row or none. On PostgreSQL its row is
 * locked until the transaction ends.
 */
const selectOverdueHold = statement<{ petId: bigint }>()((query, p, { engine, nowMs }) => {
  const overdue = query
    .selectFrom('orders')
    .select('id')
    .where('pet_id', '=', p.petId)
    .where('status', '=', sql.lit('reserved'))
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
 * Inside a work of row locks: closes the order whose hold on an animal is over, and puts the animal back; gives whether
 * there was one. It locks the order and then the animal, so it comes before any step that locks the animal.
 */
export function* closeOverdueHold(petId: bigint): Work<boolean> {
  const [order] = yield* step(selectOverdueHold, { petId });
  if (order === undefined) return false;
  yield* expireHold(order.id, petId);
  return true;
}

/**
 * Inside a work that holds the lock on a reserved order whose hold is over: the animal is available, and then the order
 * expired at the end of its hold. The events come in the same order.
 */
export function* expireHold(orderId: bigint, petId: bigint): Work<void> {
  yield* step(freePet, { petId });
  yield* step(expireOrder, { orderId });
}
