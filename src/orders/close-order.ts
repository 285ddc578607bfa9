import { type RawBuilder, sql } from 'kysely';
import type { Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import { AppError } from '../errors.ts';
import {
  type Database,
  type Dialect,
  defineTransaction,
  type Parameters,
  type Statement,
  type Steps,
  statement,
  step,
  stepsTogether,
  toLastStep,
  toStep,
} from '../storage/database.ts';
import type { OrderRow } from './order.ts';
import { selectOrder, writtenColumns } from './order-rows.ts';

export type OrderAction = 'complete' | 'cancel' | 'return';

/** For each action: the required status of the order, its new status, and the new state of the animal. */
export const transitions = {
  complete: { from: 'reserved', to: 'completed', petStatus: 'sold', isOwned: 1 },
  cancel: { from: 'reserved', to: 'cancelled', petStatus: 'available', isOwned: 0 },
  return: { from: 'completed', to: 'returned', petStatus: 'pending', isOwned: 0 },
} as const;

/** Operators do not complete orders. */
const auditActions = { cancel: 'order.cancelled', return: 'order.returned' } as const;

export interface Closing {
  readonly action: OrderAction;
  readonly id: bigint;
  /** The account of the calling key. Null for a key that may change the orders of all accounts. */
  readonly accountId: bigint | null;
  /** The operator who cancels or returns the order. Absent for a partner. */
  readonly by?: Authorship;
}

/** The order after an action. `isRepeated` is true if the order had the status of the action before. */
export interface ClosedOrder {
  readonly row: OrderRow;
  readonly isRepeated: boolean;
}

/** Locks the order if the action is allowed now, by the store's clock. Returns no row otherwise. */
const lockOpenOrder = forEachAction((action) =>
  statement<{ id: bigint; accountId: bigint | null }>()((query, p, { nowMs, lockRows }) => {
    const { from } = transitions[action];
    const allowed = query
      .selectFrom('orders')
      .select(['id', 'pet_id', 'account_id'])
      .where('id', '=', p.id)
      .where('status', '=', sql.lit(from))
      .where(sql<boolean>`(cast(${p.accountId} as bigint) is null or account_id = ${p.accountId})`);
    return (from === 'reserved' ? allowed.where('expires_at_ms', '>', nowMs) : allowed).modifyEnd(lockRows);
  }),
);

const writePet = forEachAction((action) => {
  const { petStatus, isOwned } = transitions[action];
  return statement<{ petId: bigint }>()((query, p) =>
    query
      .updateTable('pets')
      .set({ status: sql.lit(petStatus), is_owned: sql<bigint>`${sql.lit(isOwned)}` })
      .where('id', '=', p.petId),
  );
});

const writeOrder = forEachAction((action) =>
  statement<{ id: bigint }>()((query, p, dialect) =>
    query
      .updateTable('orders')
      .set({ status: sql.lit(transitions[action].to), closed_at_ms: closedAt(action, dialect) })
      .where('id', '=', p.id)
      .returning(writtenColumns as never)
      .$castTo<OrderRow>(),
  ),
);

/**
 * The time at which the order is closed. The write may come after the hold has expired. The order then counts as closed
 * 1 ms before the expiry, because the action was allowed when it was checked.
 */
function closedAt(action: OrderAction, { least, nowMs }: Dialect): RawBuilder<bigint> {
  return transitions[action].from === 'reserved' ? least(nowMs, sql`orders.expires_at_ms - 1`) : nowMs;
}

function forEachAction<P extends Parameters, R>(make: (action: OrderAction) => Statement<P, R>) {
  return { complete: make('complete'), cancel: make('cancel'), return: make('return') } as const;
}

/**
 * Runs an action on an order, with an audit entry if an operator does so. Repeating an action changes nothing. Throws `not_found`, `order_closed` and
 * `order_expired`. Writes the animal before the order, so that its event comes first.
 */
export const closeOrder = defineTransaction(
  'closeOrder',
  function* ({ action, id, accountId, by }: Closing): Steps<ClosedOrder> {
    const [order] = yield* step(lockOpenOrder[action], { id, accountId });
    if (order === undefined) {
      const [found] = yield* step(selectOrder, { id, accountId });
      return { row: requireDone(action, found), isRepeated: true };
    }
    const isAudited = by !== undefined && action !== 'complete';
    const [, [row]] = yield* stepsTogether(
      toStep(writePet[action], { petId: order.pet_id }),
      (isAudited ? toStep : toLastStep)(writeOrder[action], { id }),
    );
    if (row === undefined) throw new Error('a locked order is gone');
    if (isAudited)
      yield* addAuditEntry(by, {
        action: auditActions[action],
        subject: String(id),
        accountId: order.account_id,
        before: { status: transitions[action].from },
        after: { status: row.status },
      });
    return { row, isRepeated: false };
  },
  'row locks',
);

/** Runs an action on an order and returns its row (closeOrder). */
export async function close(database: Database, closing: Closing): Promise<OrderRow> {
  return (await database.transact(closeOrder, closing)).row;
}

/** Returns the order if it already has the status that the action sets. Otherwise throws the reason of the refusal. */
export function requireDone(action: OrderAction, found: OrderRow | undefined): OrderRow {
  if (found === undefined) throw orderNotFound();
  const { from, to } = transitions[action];
  if (found.status === to) return found;
  const isPast = found.status === 'expired' || (found.status === 'reserved' && from === 'reserved');
  if (action === 'complete' && isPast) {
    const at = new Date(Number(found.expires_at_ms)).toISOString();
    throw new AppError('order_expired', `this order expired at ${at}`);
  }
  if (found.status === from && !isPast)
    throw new AppError('order_closed', `this order became ${from} only now: try again`);
  const status = isPast ? 'expired' : found.status;
  throw new AppError('order_closed', `this order is ${status}: only a ${from} order can be ${to}`);
}

export function orderNotFound(): AppError {
  return new AppError('not_found', 'orderId: there is no order with this identifier');
}
