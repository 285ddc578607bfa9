import { type RawBuilder, sql } from 'kysely';
import { type Dialect, type Parameters, type Steps, statement } from '../storage/database.ts';
import { toStep } from '../storage/transaction.ts';
import { setPetState } from './pet-rows.ts';

/**
 * Declares a statement that selects expired holds in the order of their expiry, by the store's clock, and locks each with
 * its animal, the order first. `lockFreeRows` leaves out a hold if another transaction has locked one of them.
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

/** The hold of an animal, at most one. The status repeats the condition of the index `orders_owning`, which is partial. */
export const selectOverdueHold = selectOverdueHolds<{ petId: bigint }>(
  'lockRows',
  ({ petId }) => sql`orders.pet_id = ${petId} and orders.status in ('reserved', 'completed')`,
);

const expireOrder = statement<{ orderId: bigint }>()((query, p) =>
  query
    .updateTable('orders')
    .set({ status: sql.lit('expired'), closed_at_ms: sql<bigint>`expires_at_ms` })
    .where('id', '=', p.orderId),
);

/**
 * Part of a transaction that has locked these holds. Makes the animal of each available, then sets the order to `expired`
 * as of the end of its hold, so that the events come in this order. Returns the number of holds.
 */
export function* expireHolds(holds: readonly { id: bigint; pet_id: bigint }[]): Steps<number> {
  const steps = holds.flatMap(({ id, pet_id }) => [
    toStep(setPetState, { petId: pet_id, status: 'available', isOwned: 0n }),
    toStep(expireOrder, { orderId: id }),
  ]);
  if (steps.length > 0) yield steps;
  return holds.length;
}
