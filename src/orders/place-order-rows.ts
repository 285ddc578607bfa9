import { sql } from 'kysely';
import { statement } from '../storage/database.ts';
import type { OrderRow } from './order.ts';
import { moment, writtenColumns } from './order-columns.ts';

const claim = (petId: bigint) => sql`update pets set status = 'pending', is_owned = 1
  where pets.id = ${petId} and pets.status = 'available' and pets.is_owned = 0`;

/** The plan of the account whose holds are limited; without one null. */
type Claimed = { id: bigint; plan: string | null; open_holds: bigint | null };

/**
 * Takes an available animal for an order, in one row or none, and has the other orders of an account (null: of none) wait
 * for this one, so that its holds can be counted.
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
 * Adds an order by the store's clock and gives its row; none if its account has `openHoldsMax` open holds (null: no
 * limit), those that are over and not yet closed among them if `countsOverdue` is 1.
 */
export const insertOrder = statement<{
  accountId: bigint;
  petId: bigint;
  reference: string | null;
  holdMs: bigint;
  openHoldsMax: bigint | null;
  countsOverdue: bigint;
}>()((query, p, { nowMs }) =>
  query
    .with('moment', (cte) => cte.selectNoFrom(nowMs.as('now_ms')))
    .insertInto('orders')
    .columns(['account_id', 'pet_id', 'status', 'reference', 'created_at_ms', 'expires_at_ms'])
    .expression(
      sql`select cast(${p.accountId} as bigint), cast(${p.petId} as bigint), 'reserved',
          cast(${p.reference} as text), ${moment}, ${moment} + cast(${p.holdMs} as bigint)
        where cast(${p.openHoldsMax} as bigint) is null or cast(${p.openHoldsMax} as bigint) > (
          select count(*) from (
            select 1 from orders
            where account_id = ${p.accountId} and closed_at_ms is null
              and expires_at_ms > case cast(${p.countsOverdue} as bigint) when 1 then 0 else ${moment} end
            limit coalesce(cast(${p.openHoldsMax} as bigint), 0)
          ) as open_holds)`,
    )
    .returning(writtenColumns as never)
    .$castTo<OrderRow>(),
);

/** The overdue holds of an account that nobody else is closing, in the order of their ends; locked on PostgreSQL. */
export const selectOverdueOf = statement<{ accountId: bigint; count: bigint }>()((query, p, dialect) => {
  const overdue = query
    .selectFrom('orders')
    .select(['id', 'pet_id'])
    .where('account_id', '=', p.accountId)
    .where('closed_at_ms', 'is', null)
    .where('expires_at_ms', '<=', dialect.nowMs)
    .orderBy('expires_at_ms')
    .orderBy('id')
    .limit(p.count);
  return dialect.engine === 'postgres' ? overdue.forUpdate().skipLocked() : overdue;
});

/** Why an animal could not be taken: no row if there is none, else whether its hold is over and only has to be closed. */
export const selectObstacle = statement<{ petId: bigint }>()((query, p, { nowMs }) =>
  query
    .selectFrom('pets')
    .select(({ selectFrom }) =>
      selectFrom('orders')
        .select('orders.id')
        .whereRef('orders.pet_id', '=', 'pets.id')
        .where('orders.status', '=', sql.lit('reserved'))
        .where('orders.expires_at_ms', '<=', nowMs)
        .as('overdue_id'),
    )
    .where('pets.id', '=', p.petId),
);
