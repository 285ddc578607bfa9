import { type QueryCreator, sql } from 'kysely';
import { AppError } from '../errors.ts';
import { answerOnce, type Given, type Idempotency } from '../idempotency/first-answer.ts';
import { int64Max } from '../int64.ts';
import { expireHold, expireHolds, selectOverdueHold } from '../pets/close-overdue-hold.ts';
import { selectPet } from '../pets/pet-rows.ts';
import { openHoldsOf, type PlanName } from '../plans/plan.ts';
import {
  type Dialect,
  defineTransaction,
  type Steps,
  statement,
  step,
  stepsTogether,
  toStep,
} from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';
import { type OrderRow, toOrder, writeOrders } from './order.ts';
import { moment, writtenColumns } from './order-rows.ts';

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
}

/**
 * Locks the account, so that other orders of this account wait until its open holds are counted. Selects no row for
 * null.
 */
const lockAccount = statement<{ accountId: bigint | null }>()((query, p, { lockRows }) =>
  query
    .selectFrom('accounts')
    .select(['plan', 'open_holds'])
    .where('id', '=', p.accountId)
    .modifyEnd(lockRows),
);

/** Counts the holds of an account up to `most`, with those that have expired but are not closed yet. */
export const countHolds = statement<HoldsOf>()((query, p, dialect) =>
  query
    .selectFrom(selectHolds(query, p, dialect).limit(p.most).as('held'))
    .select(sql<bigint>`count(*)`.as('count')),
);

/** Counts the holds of an account that have not expired, up to `most`. */
const countUnexpired = statement<HoldsOf>()((query, p, dialect) =>
  query
    .selectFrom(
      selectHolds(query, p, dialect).where('expires_at_ms', '>', dialect.nowMs).limit(p.most).as('held'),
    )
    .select(sql<bigint>`count(*)`.as('count')),
);

type HoldsOf = { accountId: bigint; newestId: bigint; most: bigint };

function selectHolds(query: QueryCreator<Tables>, p: HoldsOf, { keyset }: Dialect) {
  const key = [
    ['account_id', sql`${p.accountId}`],
    ['status', sql.lit('reserved')],
  ] as const;
  const { where, orderBy } = keyset(key, p.newestId);
  return query.selectFrom('orders').select('id').where(where).orderBy(orderBy);
}

/** Selects and locks the expired holds of an account that no other transaction has locked. */
const selectOverdueOf = statement<{ accountId: bigint }>()((query, p, { nowMs, lockFreeRows }) =>
  query
    .selectFrom('orders')
    .select(['id', 'pet_id'])
    // The plus keeps both engines from using an index on the account, which may have many holds that have not expired.
    .where(sql<boolean>`+account_id = ${p.accountId}`)
    .where('closed_at_ms', 'is', null)
    .where('expires_at_ms', '<=', nowMs)
    .orderBy('expires_at_ms')
    .orderBy('id')
    .modifyEnd(lockFreeRows),
);

/** Reserves an animal for an order. Returns no row if the animal is not available. */
const claimPet = statement<{ petId: bigint }>()((query, p) =>
  query
    .updateTable('pets')
    .set({ status: sql.lit('pending'), is_owned: sql<bigint>`1` })
    .where('id', '=', p.petId)
    .where('status', '=', sql.lit('available'))
    .where('is_owned', '=', sql<bigint>`0`)
    .returning('id'),
);

/**
 * Adds an order and returns its row, with the times of the store's clock. Returns no row if another order owns the
 * animal, which only a manual change of the animal's row can cause.
 */
const insertOrder = statement<{
  accountId: bigint;
  petId: bigint;
  reference: string | null;
  holdMs: bigint;
}>()((query, p, { nowMs }) =>
  query
    .with('moment', (cte) => cte.selectNoFrom(nowMs.as('now_ms')))
    .insertInto('orders')
    .columns(['account_id', 'pet_id', 'status', 'reference', 'created_at_ms', 'expires_at_ms'])
    .expression(
      // Without the `where`, SQLite reads `on conflict` as a part of a join.
      sql`select cast(${p.accountId} as bigint), cast(${p.petId} as bigint), 'reserved',
          cast(${p.reference} as text), ${moment}, ${moment} + cast(${p.holdMs} as bigint) where true`,
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(writtenColumns as never)
    .$castTo<OrderRow>(),
);

/**
 * Reserves the animal and adds the order. If the idempotency key already has a first answer, returns that answer.
 * Throws `not_found`, `pet_unavailable` and `limit_reached`.
 *
 * Locks the account, then the overdue hold of the animal, then the animal. Orders of one account wait for each other,
 * and so do orders for one animal; no others do.
 */
export const placeOrder = defineTransaction(
  'placeOrder',
  (placing: Placing): Steps<Given> =>
    answerOnce(placing.idempotency, function* () {
      const openHoldsMax = yield* claim(placing);
      if (openHoldsMax !== null) yield* requireRoom(placing.accountId, openHoldsMax);
      const { accountId, petId, reference, holdMs, isManager } = placing;
      const [row] = yield* step(insertOrder, { accountId, petId, reference, holdMs: BigInt(holdMs) });
      if (row === undefined) throw petUnavailable();
      return { status: 201, location: `/orders/${row.id}`, body: writeOrders(toOrder(row, isManager)) };
    }),
  'row locks',
);

/** Claims the animal. Returns the most holds that the account may have open, or null without a limit. */
function* claim({ petId, accountId, isManager }: Placing): Steps<bigint | null> {
  const [[limits], [hold], [pet]] = yield* stepsTogether(
    toStep(lockAccount, { accountId: isManager ? null : accountId }),
    toStep(selectOverdueHold, { petId }),
    toStep(claimPet, { petId }),
  );
  if (hold !== undefined) yield* expireHold(hold.id, petId);
  const freed = hold === undefined ? [] : yield* step(claimPet, { petId });
  if (pet === undefined && freed.length === 0) {
    const [found] = yield* step(selectPet, { id: petId });
    throw found === undefined ? petNotFound() : petUnavailable();
  }
  return limits === undefined ? null : (limits.open_holds ?? BigInt(openHoldsOf[limits.plan as PlanName]));
}

/** Throws `limit_reached` if the account may not open another hold. At the limit, closes its expired holds first. */
function* requireRoom(accountId: bigint, openHoldsMax: bigint): Steps<void> {
  const holds = { accountId, newestId: int64Max, most: openHoldsMax };
  const [held] = yield* step(countHolds, holds);
  if (held !== undefined && held.count < openHoldsMax) return;
  yield* expireHolds(yield* step(selectOverdueOf, { accountId }));
  const [open] = yield* step(countUnexpired, holds);
  if (open !== undefined && open.count < openHoldsMax) return;
  throw new AppError(
    'limit_reached',
    `this account may open another hold only while it has fewer than ${openHoldsMax}`,
  );
}

/** Returns the error for an animal that is not available. */
export function petUnavailable(): AppError {
  return new AppError('pet_unavailable', 'petId: this animal is not available');
}

/** Returns the error for an animal that does not exist. */
export function petNotFound(): AppError {
  return new AppError('not_found', 'petId: there is no animal with this identifier');
}
