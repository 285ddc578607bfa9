import { type RawBuilder, sql } from 'kysely';
import { type ActingKey, requireLive, selectActingKey, selectLockedKey } from '../accounts/acting-key.ts';
import { AppError, notFound } from '../errors.ts';
import { stringifyExactJson } from '../exact-json.ts';
import { answerOnce, type Idempotency } from '../idempotency/answer-once.ts';
import { int64Max } from '../int64.ts';
import { selectPet } from '../pets/pet-rows.ts';
import { openHoldsOf } from '../plans/plan.ts';
import { type Steps, statement, step, together, transaction } from '../storage/database.ts';
import type { Dialect } from '../storage/dialect.ts';
import { type OrderRow, toOrder } from './order.ts';
import { moment, selectHolds, writtenColumns } from './order-rows.ts';
import { expireHolds, selectOverdueHold, selectOverdueHolds } from './overdue-holds.ts';

/** A new order after validation, with its defaults. */
export interface CompleteOrder {
  readonly petId: bigint;
  readonly holdMs: number;
  readonly reference: string | null;
}

export interface OrderReader {
  readonly accountId: bigint;
  /** True if the key has `orders:manage`: for the orders of all accounts, with their accounts, and any number of holds. */
  readonly isManager: boolean;
}

/** A key that places, completes, cancels or returns orders. */
export type OrderKey = OrderReader & ActingKey;

export interface Placing extends CompleteOrder, OrderKey {
  readonly idempotency: Idempotency | null;
}

/** Null means no account, without holds. */
type HoldsOf = { accountId: bigint | null; newestId: bigint };

/** Counts the holds of an account, with those that have expired but are not closed yet. */
export const countHolds = selectRoom(() => sql`true`);

const countUnexpired = selectRoom(({ nowMs }) => sql`expires_at_ms > ${nowMs}`);

/** Returns the count, which stops at the maximum of the account, and this maximum. */
function selectRoom(isCounted: (dialect: Dialect) => RawBuilder<boolean>) {
  return statement((query, p: HoldsOf, dialect) => {
    const most = sql<bigint>`coalesce(
      (select coalesce(open_holds, ${openHoldsOfPlan}) from accounts where id = ${p.accountId}), 0)`;
    const holds = selectHolds(query, p, dialect).where(isCounted(dialect));
    return query
      .selectFrom(holds.limit(most).as('held'))
      .select([sql<bigint>`count(*)`.as('count'), most.as('most')]);
  });
}

/** The maximum number of open holds of the plan of an account. */
const openHoldsOfPlan = sql`case plan ${sql.join(
  Object.entries(openHoldsOf).map(([plan, most]) => sql`when ${sql.lit(plan)} then ${sql.lit(most)}`),
  sql` `,
)} end`;

/** The plus keeps both engines from using an index on the account, which may have many holds that have not expired. */
const selectOverdueOf = selectOverdueHolds<{ accountId: bigint }>(
  'lockFreeRows',
  ({ accountId }) => sql`+account_id = ${accountId}`,
);

/** Reserves an animal for an order. Returns no row if the animal is not available. */
const claimPet = statement((query, p: { petId: bigint }) =>
  query
    .updateTable('pets')
    .set({ status: sql.lit('pending'), is_owned: sql<bigint>`1` })
    .where('id', '=', p.petId)
    .where('status', '=', sql.lit('available'))
    .where('is_owned', '=', sql<bigint>`0`)
    .returning('id'),
);

/** Returns no row if another order owns the animal, which only a manual change of the animal's row can cause. */
const insertOrder = statement(
  (query, p: { accountId: bigint; petId: bigint; reference: string | null; holdMs: bigint }, { nowMs }) =>
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
 * Reserves the animal and adds the order, once per idempotency key. Throws `not_found`, `pet_unavailable`,
 * `limit_reached`, and what authentication would say now.
 *
 * Locks the account with the key, then the overdue hold of the animal, then the animal. Orders of one account wait for
 * each other until its open holds are counted, and so do orders for one animal; no others do. A manager's holds are not
 * counted, so its orders do not wait, and the erasure of a deleted account closes one that came with its deletion.
 *
 * The triggers `pets_updated` and `orders_added` record the events, on PostgreSQL `append_pets_updated` and
 * `append_orders_added`.
 */
export const placeOrder = transaction('placeOrder', 'row locks', (placing: Placing) =>
  answerOnce(placing.idempotency, function* () {
    yield* claim(placing);
    const { accountId, petId, reference, holdMs, isManager } = placing;
    const [row] = yield* step(insertOrder, { accountId, petId, reference, holdMs: BigInt(holdMs) });
    if (row === undefined) throw petUnavailable();
    return {
      status: 201,
      location: `/orders/${row.id}`,
      body: stringifyExactJson(toOrder(row, isManager)),
    };
  }),
);

function* claim({ petId, accountId, isManager, keyId, nowMs }: Placing): Steps<void> {
  const holds = { accountId: isManager ? null : accountId, newestId: int64Max };
  const [[acting], overdue, [pet], [room]] = yield* together(
    step(isManager ? selectActingKey : selectLockedKey, { accountId, keyId }),
    step(selectOverdueHold, { petId }),
    step(claimPet, { petId }),
    step(countHolds, holds),
  );
  requireLive(acting, { nowMs });
  const freed = (yield* expireHolds(overdue)) === 0 ? [] : yield* step(claimPet, { petId });
  if (pet === undefined && freed.length === 0) {
    const [found] = yield* step(selectPet, { id: petId });
    throw found === undefined ? notFound('petId', 'animal') : petUnavailable();
  }
  if (!isManager && !hasRoom(room)) yield* makeRoom(accountId);
}

/** Closes the expired holds of an account. Throws `limit_reached` if the account still may not open another hold. */
function* makeRoom(accountId: bigint): Steps<void> {
  yield* expireHolds(yield* step(selectOverdueOf, { accountId }));
  const [room] = yield* step(countUnexpired, { accountId, newestId: int64Max });
  if (hasRoom(room)) return;
  throw new AppError(
    'limit_reached',
    `this account may open another hold only while it has fewer than ${room?.most}`,
  );
}

function hasRoom(room: { readonly count: bigint; readonly most: bigint } | undefined): boolean {
  return room !== undefined && room.count < room.most;
}

export function petUnavailable(): AppError {
  return new AppError('pet_unavailable', 'petId: this animal is not available');
}
