import { type SelectQueryBuilder, sql } from 'kysely';
import {
  type Dialect,
  type Parameters,
  type Statement,
  type Steps,
  statement,
  step,
} from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';

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
export function* closeOverdueHold(petId: bigint): Steps<boolean> {
  const [order] = yield* step(selectOverdueHold, { petId });
  if (order === undefined) return false;
  yield* expireHold(order.id, petId);
  return true;
}

/**
 * Part of a transaction that has locked an order with an expired hold. Makes the animal available, then sets the order
 * to `expired` as of the end of its hold. The events of the two changes are written in this order.
 */
function* expireHold(orderId: bigint, petId: bigint): Steps<void> {
  yield* step(freePet, { petId });
  yield* step(expireOrder, { orderId });
}

type OverdueHold = { id: bigint; pet_id: bigint };
type OverdueHolds = SelectQueryBuilder<Tables, 'orders', OverdueHold>;

/**
 * Declares a statement that selects overdue holds in the order of their expiry. `narrow` adds conditions.
 *
 * On PostgreSQL, the statement locks the holds and then their animals. It leaves out a hold if another transaction has
 * locked the hold or its animal. So it never waits, and one locked animal does not delay other holds.
 */
export function selectOverdueHolds<P extends Parameters>(
  narrow: (overdue: OverdueHolds, p: P, dialect: Dialect) => OverdueHolds,
): Statement<P, OverdueHold> {
  return statement<P>()((query, p, dialect) => {
    const all = query
      .selectFrom('orders')
      .select(['id', 'pet_id'])
      .where('closed_at_ms', 'is', null)
      .where('expires_at_ms', '<=', dialect.nowMs)
      .orderBy('expires_at_ms')
      .orderBy('id');
    const overdue = narrow(all, p, dialect);
    if (dialect.engine === 'sqlite') return overdue;
    return query
      .with('overdue', () => overdue.select('expires_at_ms').forUpdate().skipLocked())
      .with(
        'locked',
        () => sql<{ id: bigint }>`(select id from pets where id in (select pet_id from overdue)
          for update skip locked)`,
      )
      .selectFrom('overdue')
      .select(['id', 'pet_id'])
      .where(
        // The second condition is for an animal that was deleted by hand.
        sql<boolean>`(pet_id in (select id from locked)
          or not exists (select from pets where pets.id = overdue.pet_id))`,
      )
      .orderBy('expires_at_ms')
      .orderBy('id');
  });
}

/** Part of a transaction with row locks. Closes the holds that a statement selects, and returns their number. */
export function* closeOverdueHolds<P extends Parameters>(
  holds: Statement<P, OverdueHold>,
  parameters: P,
): Steps<number> {
  const overdue = yield* step(holds, parameters);
  for (const { id, pet_id } of overdue) yield* expireHold(id, pet_id);
  return overdue.length;
}
