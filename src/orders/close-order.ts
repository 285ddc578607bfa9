import { type RawBuilder, sql } from 'kysely';
import { type ActingKey, requireLive, selectActingKey } from '../accounts/acting-key.ts';
import { type Authorship, addAuditEntry } from '../audit/audit-log.ts';
import { AppError, isUnavailable, notFound } from '../errors.ts';
import { setPetState } from '../pets/pet-rows.ts';
import {
  type Database,
  lastStep,
  type Steps,
  statement,
  step,
  together,
  transaction,
} from '../storage/database.ts';
import type { ByEngine } from '../storage/dialect.ts';
import type { OrderRow } from './order.ts';
import { isOf, selectOrder, writtenColumns } from './order-rows.ts';
import { expireHolds, selectOverdueHolds } from './overdue-holds.ts';

/** For each action: the required status of the order, its new status, and the new state of the animal. */
export const transitions = {
  complete: { from: 'reserved', to: 'completed', petStatus: 'sold', isOwned: 1n },
  cancel: { from: 'reserved', to: 'cancelled', petStatus: 'available', isOwned: 0n },
  return: { from: 'completed', to: 'returned', petStatus: 'pending', isOwned: 0n },
} as const;

export type OrderAction = keyof typeof transitions;

interface Closing {
  readonly action: OrderAction;
  readonly id: bigint;
  /** The account of the calling key. Null for a key that may change the orders of all accounts. */
  readonly accountId: bigint | null;
  /** The key that acts. Absent for an operator. */
  readonly key?: ActingKey;
  /** The operator who cancels or returns the order. Absent for a partner. */
  readonly by?: Authorship;
}

/** Locks the order if it has the status `from` now, by the store's clock. */
const lockOpenOrder = statement(
  (query, p: { id: bigint; accountId: bigint | null; from: string }, { nowMs, lockRows }) =>
    query
      .selectFrom('orders')
      .select(['id', 'pet_id', 'account_id'])
      .where('id', '=', p.id)
      .where('status', '=', p.from)
      .where(sql<boolean>`(status <> 'reserved' or expires_at_ms > ${nowMs})`)
      .where(isOf(p.accountId))
      .modifyEnd(lockRows),
);

/** The function that returns the least of its arguments. */
const least: ByEngine<RawBuilder<unknown>> = { sqlite: sql`min`, postgres: sql`least` };

/** If the hold has expired since the check, the order counts as closed 1 ms before, because the action was allowed. */
const writeOrder = statement((query, p: { id: bigint; to: string }, { engine, nowMs }) =>
  query
    .updateTable('orders')
    .set({
      status: p.to,
      closed_at_ms: sql<bigint>`case status
        when 'reserved' then ${least[engine]}(${nowMs}, orders.expires_at_ms - 1) else ${nowMs} end`,
    })
    .where('id', '=', p.id)
    .returning(writtenColumns as never)
    .$castTo<OrderRow>(),
);

/**
 * Runs an action on an order, with an audit entry if an operator does so. If the order already has the status of the
 * action, changes nothing, and `isRepeated` is true. Throws `not_found`, `order_closed` and `order_expired`, and to a
 * key what authentication would say now. Writes the animal before the order, so that its event comes first: the triggers
 * `pets_updated` and `orders_updated` record them, on PostgreSQL `append_pets_updated` and `append_orders_updated`.
 */
export const closeOrder = transaction(
  'closeOrder',
  'row locks',
  function* ({ action, id, accountId, key, by }: Closing) {
    const { from, to, petStatus, isOwned } = transitions[action];
    const [[order], [acting]] = yield* together(
      step(lockOpenOrder, { id, accountId, from }),
      step(selectActingKey, {
        accountId: key?.accountId ?? 0n,
        keyId: key?.keyId ?? '',
      }),
    );
    if (key !== undefined) requireLive(acting, key);
    if (order === undefined) {
      const [found] = yield* step(selectOrder, { id, accountId });
      return { row: requireDone(action, found), isRepeated: true };
    }
    // Operators do not complete orders.
    const isAudited = by !== undefined && to !== 'completed';
    const [, [row]] = yield* together(
      step(setPetState, { petId: order.pet_id, status: petStatus, isOwned }),
      (isAudited ? step : lastStep)(writeOrder, { id, to }),
    );
    if (row === undefined) throw new Error('a locked order is gone');
    if (isAudited) {
      const details = { accountId: order.account_id, before: { status: from }, after: { status: to } };
      yield* addAuditEntry(by, `order.${to}`, String(id), details);
    }
    return { row, isRepeated: false };
  },
);

/** Returns the order if it already has the status that the action sets. Otherwise throws the reason of the refusal. */
export function requireDone(action: OrderAction, found: OrderRow | undefined): OrderRow {
  if (found === undefined) throw notFound('orderId', 'order');
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

/** Maximum number of holds that one transaction closes. */
const batchHolds = 50;
/** Maximum number of holds that one statement reads. */
const holdsMax = 10_000n;

/** Selects expired holds in the order of their expiry. */
const selectOverdue = statement((query, p: { count: bigint }, { nowMs }) =>
  query
    .selectFrom('orders')
    .select('id')
    .where('closed_at_ms', 'is', null)
    .where('expires_at_ms', '<=', nowMs)
    .orderBy('expires_at_ms')
    .orderBy('id')
    .limit(p.count),
);

const lockStillOpen = selectOverdueHolds<{ ids: string }>('lockFreeRows', (p, { isAmong }) =>
  isAmong('orders.id', p.ids),
);

export const expireGiven = transaction(
  'expireGiven',
  'row locks',
  function* (ids: readonly bigint[]): Steps<number> {
    return yield* expireHolds(yield* step(lockStillOpen, { ids: `[${ids.join()}]` }));
  },
);

/**
 * Closes expired holds in the order of their expiry and returns their number. A hold that another transaction has locked
 * is left for the next call. If one cannot be closed, the others are, and the first error is thrown at the end.
 */
export async function expireOrders(database: Database): Promise<number> {
  const failures: unknown[] = [];

  /** Closes the holds in batches of `size`, and those of a batch that fails one by one. */
  async function close(ids: readonly bigint[], size: number): Promise<number> {
    let closed = 0;
    for (let from = 0; from < ids.length; from += size) {
      const batch = ids.slice(from, from + size);
      try {
        closed += await database.transact(expireGiven, batch);
      } catch (error) {
        if (isUnavailable(error)) throw error;
        if (size === 1) failures.push(error);
        else closed += await close(batch, 1);
      }
    }
    return closed;
  }

  for (let total = 0; ; ) {
    const ids = (await database.read(selectOverdue, { count: holdsMax })).map(({ id }) => id);
    const closed = await close(ids, batchHolds);
    total += closed;
    if (failures.length > 0) throw failures[0];
    if (closed === 0 || ids.length < holdsMax) return total;
  }
}
