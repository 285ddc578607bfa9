import { type RawBuilder, sql } from 'kysely';
import { setPetState } from '../pets/pet-rows.ts';
import { type Parameters, type Steps, statement, step, together } from '../storage/database.ts';
import type { Dialect } from '../storage/dialect.ts';

const isOverdue = (nowMs: RawBuilder<bigint>) =>
  sql<boolean>`closed_at_ms is null and expires_at_ms <= ${nowMs}`;

/**
 * Declares a statement that selects expired holds in the order of their expiry, by the store's clock, and locks each with
 * its animal, the order first. `lockFreeRows` leaves out a hold if another transaction has locked one of them.
 */
export function selectOverdueHolds<P extends Parameters>(
  lock: 'lockRows' | 'lockFreeRows',
  areWanted: (parameters: P, dialect: Dialect) => RawBuilder<boolean>,
) {
  return statement((query, p: P, dialect) =>
    query
      .selectFrom('orders')
      .innerJoin('pets', 'pets.id', 'orders.pet_id')
      .select(['orders.id', 'orders.pet_id'])
      .where(areWanted(p, dialect))
      .where(isOverdue(dialect.nowMs))
      .orderBy('expires_at_ms')
      .orderBy('orders.id')
      .modifyEnd(dialect[lock]),
  );
}

/** Repeats the condition of the index `orders_owning`, which is partial. It has at most one order of an animal. */
const isOwning = sql<boolean>`orders.status in ('reserved', 'completed')`;

/** The hold of an animal, at most one. */
export const selectOverdueHold = selectOverdueHolds<{ petId: bigint }>(
  'lockRows',
  ({ petId }) => sql`orders.pet_id = ${petId} and ${isOwning}`,
);

/** True for a row of `pets` that has an overdue hold, by the store's clock. */
export const hasOverdueHold = (nowMs: RawBuilder<bigint>) =>
  sql<boolean>`exists (select 1 from orders where orders.pet_id = pets.id and ${isOwning} and ${isOverdue(nowMs)})`;

const expireOrder = statement((query, p: { orderId: bigint }) =>
  query
    .updateTable('orders')
    .set({ status: sql.lit('expired'), closed_at_ms: sql<bigint>`expires_at_ms` })
    .where('id', '=', p.orderId),
);

/**
 * Part of a transaction that has locked these holds. Makes the animal of each available, then sets the order to `expired`
 * as of the end of its hold, so that the events come in this order: the triggers `pets_updated` and `orders_updated` record
 * them, on PostgreSQL `append_pets_updated` and `append_orders_updated`. Returns the number of holds.
 */
export function* expireHolds(holds: readonly { id: bigint; pet_id: bigint }[]): Steps<number> {
  const steps = holds.flatMap(({ id, pet_id }) => [
    step(setPetState, { petId: pet_id, status: 'available', isOwned: 0n }),
    step(expireOrder, { orderId: id }),
  ]);
  yield* together(...steps);
  return holds.length;
}
