import { type RawBuilder, sql } from 'kysely';
import { type Dialect, type Parameters, type Steps, statement, step } from '../storage/database.ts';
import { setPetState } from './pet-rows.ts';

/** Selects the reserved order of an animal if its hold has expired by the store's clock, and locks its row. */
export const selectOverdueHold = statement<{ petId: bigint }>()((query, p, { lockRows, nowMs }) =>
  query
    .selectFrom('orders')
    .select('id')
    .where('pet_id', '=', p.petId)
    .where('status', '=', sql.lit('reserved'))
    // Repeats the condition of the partial index `orders_owning`. SQLite uses the index only for this exact condition.
    .where(sql<boolean>`status in ('reserved', 'completed')`)
    .where('expires_at_ms', '<=', nowMs)
    .modifyEnd(lockRows),
);

/**
 * Declares a statement that selects expired holds in the order of their expiry and locks each with its animal, the order
 * first. `lockFreeRows` leaves out a hold if another transaction has locked one of them, so that it delays no other.
 */
export function selectOverdueHolds<P extends Parameters>(
  lock: 'lockRows' | 'lockFreeRows',
  areWanted: (parameters: P, dialect: Dialect) => RawBuilder<boolean>,
) {
  return statement<P>()((query, p, dialect) =>
    query
      .selectFrom('orders')
      .innerJoin('pets', 'pets.id', 'orders.pet_id')
      .select(['orders.id', 'orders.pet_id'])
      .where(areWanted(p, dialect))
      .where('closed_at_ms', 'is', null)
      .where('expires_at_ms', '<=', dialect.nowMs)
      .orderBy('expires_at_ms')
      .orderBy('orders.id')
      .modifyEnd(dialect[lock]),
  );
}

const expireOrder = statement<{ orderId: bigint }>()((query, p) =>
  query
    .updateTable('orders')
    .set({ status: sql.lit('expired'), closed_at_ms: sql<bigint>`expires_at_ms` })
    .where('id', '=', p.orderId),
);

/**
 * Part of a transaction that has locked an order with an expired hold. Makes the animal available, then sets the order
 * to `expired` as of the end of its hold. The events of the two changes are written in this order.
 */
export function* expireHold(orderId: bigint, petId: bigint): Steps<void> {
  yield* step(setPetState, { petId, status: 'available', isOwned: 0n });
  yield* step(expireOrder, { orderId });
}

/** Part of a transaction. Closes the holds of `selectOverdueHolds` in their order, and returns their number. */
export function* expireHolds(holds: readonly { id: bigint; pet_id: bigint }[]): Steps<number> {
  for (const { id, pet_id } of holds) yield* expireHold(id, pet_id);
  return holds.length;
}
