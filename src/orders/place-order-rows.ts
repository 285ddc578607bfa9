import { type RawBuilder, sql } from 'kysely';
import { int64Max } from '../int64.ts';
import { selectOverdueHolds } from '../pets/close-overdue-hold.ts';
import { type Dialect, statement } from '../storage/database.ts';
import type { OrderRow } from './order.ts';
import { moment, writtenColumns } from './order-columns.ts';
import { type OrderRange, selectRange } from './order-range.ts';

const claim = (petId: bigint) => sql`update pets set status = 'pending', is_owned = 1
  where pets.id = ${petId} and pets.status = 'available' and pets.is_owned = 0`;

/**
 * The result of `claimPet`:
 * - `id` is the id of the animal.
 * - `plan` is null if the holds of the account are not limited.
 * - `open_holds` is the limit of the account, or null if the limit of the plan applies.
 */
type Claimed = { id: bigint; plan: string | null; open_holds: bigint | null };

/**
 * Reserves an animal for an order. Returns no row if the animal is not available. Locks the account `limitedId`, so
 * that other orders of this account wait until its open holds are counted. A null `limitedId` means that the holds are
 * not limited.
 */
export const claimPet = statement<{ petId: bigint; limitedId: bigint | null }>()((query, p, { engine }) =>
  engine === 'postgres'
    ? query
        .with('claimed', () => sql<{ id: bigint }>`(${claim(p.petId)} returning pets.id)`)
        .with(
          'account',
          () => sql<Omit<Claimed, 'id'>>`(select plan, open_holds from accounts
            where id = ${p.limitedId} and exists (select from claimed) for no key update)`,
        )
        .selectFrom('claimed')
        .leftJoin('account', (join) => join.onTrue())
        .select(['claimed.id', 'account.plan', 'account.open_holds'])
    : query
        .updateTable('pets')
        .set({ status: sql.lit('pending'), is_owned: sql<bigint>`1` })
        .where('id', '=', p.petId)
        .where('status', '=', sql.lit('available'))
        .where('is_owned', '=', sql<bigint>`0`)
        .returning(({ selectFrom }) => [
          'id',
          selectFrom('accounts').select('plan').where('id', '=', p.limitedId).as('plan'),
          selectFrom('accounts').select('open_holds').where('id', '=', p.limitedId).as('open_holds'),
        ]),
);

/**
 * Selects at most `openHoldsMax` open holds of an account. If `countsOverdue` is 1, includes expired holds that are not
 * closed yet.
 */
function selectOpenHolds(
  p: { accountId: bigint; openHoldsMax: bigint | null; countsOverdue: bigint },
  engine: Dialect['engine'],
): RawBuilder<unknown> {
  const count = sql`coalesce(cast(${p.openHoldsMax} as bigint), 0)`;
  const range: OrderRange = {
    index: 'orders_by_account',
    key: [
      ['account_id', sql`${p.accountId}`],
      ['status', sql.lit('reserved')],
    ],
    newestId: sql.lit(int64Max),
    conditions: [sql`(cast(${p.countsOverdue} as bigint) = 1 or expires_at_ms > ${moment})`],
    count,
  };
  const open = selectRange(sql`1`, range, engine);
  return engine === 'sqlite' ? sql`(${open} limit ${count})` : open;
}

/**
 * Adds an order and returns its row. The times are those of the store's clock. Returns no row if the account already
 * has `openHoldsMax` open holds; null means no limit. If `countsOverdue` is 1, expired holds that are not closed yet
 * count as open.
 */
export const insertOrder = statement<{
  accountId: bigint;
  petId: bigint;
  reference: string | null;
  holdMs: bigint;
  openHoldsMax: bigint | null;
  countsOverdue: bigint;
}>()((query, p, { nowMs, engine }) =>
  query
    .with('moment', (cte) => cte.selectNoFrom(nowMs.as('now_ms')))
    .insertInto('orders')
    .columns(['account_id', 'pet_id', 'status', 'reference', 'created_at_ms', 'expires_at_ms'])
    .expression(
      sql`select cast(${p.accountId} as bigint), cast(${p.petId} as bigint), 'reserved',
          cast(${p.reference} as text), ${moment}, ${moment} + cast(${p.holdMs} as bigint)
        where cast(${p.openHoldsMax} as bigint) is null or cast(${p.openHoldsMax} as bigint) > (
          select count(*) from ${selectOpenHolds(p, engine)} as open_holds)`,
    )
    .returning(writtenColumns as never)
    .$castTo<OrderRow>(),
);

/** Selects expired holds of an account. */
export const selectOverdueOf = selectOverdueHolds<{ accountId: bigint; count: bigint }>((overdue, p) =>
  overdue
    // The plus keeps both engines from using an index on the account, which may have many holds that have not expired.
    .where(sql<boolean>`+account_id = ${p.accountId}`)
    .limit(p.count),
);

/**
 * Selects 1 as `is_free` if an order can take the animal, because the animal is available or has an overdue hold.
 * Otherwise selects 0. Returns no row if the animal does not exist.
 */
export const selectIsFree = statement<{ petId: bigint }>()((query, p, { nowMs }) =>
  query
    .selectFrom('pets')
    .select(({ selectFrom }) => {
      const overdue = selectFrom('orders')
        .select('orders.id')
        .whereRef('orders.pet_id', '=', 'pets.id')
        .where('orders.status', '=', sql.lit('reserved'))
        .where('orders.expires_at_ms', '<=', nowMs);
      return sql<bigint>`case when pets.status = 'available' and pets.is_owned = 0 or exists ${overdue}
        then 1 else 0 end`.as('is_free');
    })
    .where('pets.id', '=', p.petId),
);
