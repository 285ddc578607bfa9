import { AppError } from '../errors.ts';
import { answerOnce } from '../idempotency/answer-once.ts';
import type { Given, Idempotency } from '../idempotency/first-answer.ts';
import { closeOverdueHold, closeOverdueHolds } from '../pets/close-overdue-hold.ts';
import { openHoldsOf, type PlanName } from '../plans/plan.ts';
import { defineTransaction, type Steps, step } from '../storage/database.ts';
import { type OrderRow, toOrder, writeOrders } from './order.ts';
import { claimPet, insertOrder, selectOverdueOf } from './place-order-rows.ts';

export interface Placing {
  readonly petId: bigint;
  readonly holdMs: number;
  readonly reference: string | null;
  readonly accountId: bigint;
  /**
   * True if the key has `orders:manage`. The number of open holds is then not limited, and the response names the
   * account.
   */
  readonly isManager: boolean;
  readonly idempotency: Idempotency | null;
  readonly nowMs: number;
  /** True if the animal has an overdue hold that must be closed first. */
  readonly closesOverdue: boolean;
}

/** Number of expired holds in one read. */
const closedAtOnce = 100n;

/**
 * Reserves the animal and adds the order. If the idempotency key already has a first answer, returns that answer.
 * Throws `limit_reached` and `pet_unavailable`. Throws `pet_unavailable` also if the animal does not exist.
 *
 * All transactions lock an order before its animal. An overdue hold of the animal is therefore closed first or not at
 * all.
 */
export const placeOrder = defineTransaction(
  'placeOrder',
  (placing: Placing): Steps<Given> =>
    answerOnce(placing.idempotency, placing.nowMs, function* () {
      if (placing.closesOverdue) yield* closeOverdueHold(placing.petId);
      const row = yield* addOrder(placing);
      const body = writeOrders(toOrder(row, placing.isManager));
      return { status: 201, location: `/orders/${row.id}`, body };
    }),
  'row locks',
);

function* addOrder({ petId, holdMs, reference, accountId, isManager }: Placing): Steps<OrderRow> {
  const [claimed] = yield* step(claimPet, { petId, limitedId: isManager ? null : accountId });
  if (claimed === undefined) throw new AppError('pet_unavailable', 'petId: this animal is not available');
  const openHoldsMax = isManager ? null : readOpenHoldsMax(claimed);
  const order = { accountId, petId, reference, holdMs: BigInt(holdMs), openHoldsMax };
  const [row] = yield* step(insertOrder, { ...order, countsOverdue: 1n });
  if (row !== undefined) return row;
  yield* closeOverdueOf(accountId);
  const [late] = yield* step(insertOrder, { ...order, countsOverdue: 0n });
  if (late !== undefined) return late;
  throw new AppError(
    'limit_reached',
    `this account may open another hold only while it has fewer than ${openHoldsMax}`,
  );
}

function readOpenHoldsMax(account: { plan: string | null; open_holds: bigint | null }): bigint {
  return account.open_holds ?? BigInt(openHoldsOf[account.plan as PlanName]);
}

function* closeOverdueOf(accountId: bigint): Steps<void> {
  let closed: number;
  do closed = yield* closeOverdueHolds(selectOverdueOf, { accountId, count: closedAtOnce });
  while (closed === Number(closedAtOnce));
}
