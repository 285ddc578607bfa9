import { sql } from 'kysely';
import { type Steps, statement, step } from '../storage/database.ts';

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
 * Part of a transaction that has locked an order with an expired hold. Makes the animal available, then sets the order
 * to `expired` as of the end of its hold. The events of the two changes are written in this order.
 */
export function* expireHold(orderId: bigint, petId: bigint): Steps<void> {
  yield* step(freePet, { petId });
  yield* step(expireOrder, { orderId });
}

/** Selects the animals that no other transaction has locked, and locks them. `ids` is a JSON array. */
const lockFreePets = statement<{ ids: string }>()((query, p, { isAmong, lockFreeRows }) =>
  query.selectFrom('pets').select('id').where(isAmong('id', p.ids)).modifyEnd(lockFreeRows),
);

const selectPetIds = statement<{ ids: string }>()((query, p, { isAmong }) =>
  query.selectFrom('pets').select('id').where(isAmong('id', p.ids)),
);

/**
 * Part of a transaction with row locks. Closes expired holds that it has locked, in their order, and returns their
 * number. Leaves out a hold whose animal another transaction has locked, so one locked animal does not delay the others.
 */
export function* expireHolds(holds: readonly { id: bigint; pet_id: bigint }[]): Steps<number> {
  if (holds.length === 0) return 0;
  const locked = yield* step(lockFreePets, { ids: toList(holds) });
  const free = new Set(locked.map(({ id }) => id));
  const others = holds.filter(({ pet_id }) => !free.has(pet_id));
  // An animal that was deleted by hand cannot be locked. Its hold ends all the same.
  const kept = others.length === 0 ? [] : yield* step(selectPetIds, { ids: toList(others) });
  const busy = new Set(kept.map(({ id }) => id));
  const closed = holds.filter(({ pet_id }) => !busy.has(pet_id));
  for (const { id, pet_id } of closed) yield* expireHold(id, pet_id);
  return closed.length;
}

function toList(holds: readonly { pet_id: bigint }[]): string {
  return `[${holds.map(({ pet_id }) => pet_id).join()}]`;
}
