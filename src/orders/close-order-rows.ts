import { type RawBuilder, sql } from 'kysely';
import { type Dialect, type Statement, statement } from '../storage/database.ts';
import type { OrderRow } from './order.ts';
import { writtenColumns } from './order-columns.ts';

export type OrderAction = 'complete' | 'cancel' | 'return';

/**
 * For each action: the required status of the order, its new status, and the new state of the animal (contract section
 * 12).
 */
export const transitions = {
  complete: { from: 'reserved', to: 'completed', petStatus: 'sold', isOwned: 1 },
  cancel: { from: 'reserved', to: 'cancelled', petStatus: 'available', isOwned: 0 },
  return: { from: 'completed', to: 'returned', petStatus: 'pending', isOwned: 0 },
} as const;

/** `accountId` is null for a key that may change the orders of all accounts. */
type Closing = { id: bigint; accountId: bigint | null };

/** Returns SQL that finds the order only if the action is allowed now, by the store's clock. */
function findOrder(action: OrderAction, p: Closing, nowMs: RawBuilder<bigint>): RawBuilder<unknown> {
  const { from } = transitions[action];
  const isInTime = from === 'reserved' ? sql`and orders.expires_at_ms > ${nowMs}` : sql``;
  return sql`orders where orders.id = ${p.id} and orders.status = ${sql.lit(from)} ${isInTime}
    and (cast(${p.accountId} as bigint) is null or orders.account_id = ${p.accountId})`;
}

/**
 * Returns the time at which the order is closed. A statement that had to wait may write after the hold has expired. The
 * order then counts as closed 1 ms before the expiry, because the action was allowed when it was checked.
 */
function closedAt(
  action: OrderAction,
  { engine, nowMs }: Pick<Dialect, 'engine' | 'nowMs'>,
): RawBuilder<bigint> {
  const least = sql.raw(engine === 'sqlite' ? 'min' : 'least');
  return transitions[action].from === 'reserved' ? sql`${least}(${nowMs}, orders.expires_at_ms - 1)` : nowMs;
}

const setPet = (action: OrderAction) => {
  const { petStatus, isOwned } = transitions[action];
  return sql`status = ${sql.lit(petStatus)}, is_owned = ${sql.lit(isOwned)}`;
};

/**
 * For PostgreSQL. Runs an action in one statement. Returns the row of the order, or no row if the action is not
 * allowed. If the statement has to wait for the lock on the order, PostgreSQL checks the condition again after the
 * wait.
 *
 * The update of the order depends on the number of updated animals, so the event of the animal comes first.
 */
export const closeInOneStatement: Readonly<Record<OrderAction, Statement<Closing, OrderRow>>> = {
  complete: closeAtOnce('complete'),
  cancel: closeAtOnce('cancel'),
  return: closeAtOnce('return'),
};

function closeAtOnce(action: OrderAction): Statement<Closing, OrderRow> {
  return statement<Closing>()((query, p, { engine, nowMs }) =>
    query
      .with(
        'locked',
        () => sql<{ id: bigint; pet_id: bigint }>`(select orders.id, orders.pet_id
          from ${findOrder(action, p, nowMs)} for no key update)`,
      )
      .with(
        'written',
        () => sql<{ id: bigint }>`(update pets set ${setPet(action)} from locked
          where pets.id = locked.pet_id returning pets.id)`,
      )
      .with(
        'closed',
        () => sql<OrderRow>`(update orders set status = ${sql.lit(transitions[action].to)}, closed_at_ms = ${closedAt(action, { engine, nowMs })}
          from locked where orders.id = locked.id and (select count(*) from written) = 1
          returning ${writtenColumns})`,
      )
      .selectFrom('closed')
      .selectAll(),
  );
}

/** For SQLite. Updates the animal of the order. Returns no row if the action is not allowed. */
export const writePetOf: Readonly<Record<OrderAction, Statement<Closing, { id: bigint }>>> = {
  complete: writePet('complete'),
  cancel: writePet('cancel'),
  return: writePet('return'),
};

function writePet(action: OrderAction): Statement<Closing, { id: bigint }> {
  const { petStatus, isOwned } = transitions[action];
  return statement<Closing>()((query, p, { nowMs }) =>
    query
      .updateTable('pets')
      .set({ status: sql.lit(petStatus), is_owned: sql<bigint>`${sql.lit(isOwned)}` })
      .where('id', '=', sql<bigint>`(select orders.pet_id from ${findOrder(action, p, nowMs)})`)
      .returning('id'),
  );
}

/** For SQLite. Updates the order. Run it after `writePetOf`, in the same transaction. */
export const writeOrder: Readonly<Record<OrderAction, Statement<{ id: bigint }, OrderRow>>> = {
  complete: writeClosed('complete'),
  cancel: writeClosed('cancel'),
  return: writeClosed('return'),
};

function writeClosed(action: OrderAction): Statement<{ id: bigint }, OrderRow> {
  return statement<{ id: bigint }>()((query, p, dialect) =>
    query
      .updateTable('orders')
      .set({ status: sql.lit(transitions[action].to), closed_at_ms: closedAt(action, dialect) })
      .where('id', '=', p.id)
      .returning(writtenColumns as never)
      .$castTo<OrderRow>(),
  );
}
