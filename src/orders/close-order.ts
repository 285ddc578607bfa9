import { AppError } from '../errors.ts';
import { type Database, defineTransaction, type Steps, step } from '../storage/database.ts';
import {
  closeInOneStatement,
  type OrderAction,
  transitions,
  writeOrder,
  writePetOf,
} from './close-order-rows.ts';
import type { OrderRow } from './order.ts';
import { selectOrder } from './order-rows.ts';

export interface Closing {
  readonly action: OrderAction;
  readonly id: bigint;
  /** The account of the calling key. Null for a key that may change the orders of all accounts. */
  readonly accountId: bigint | null;
}

/** Runs an action on SQLite. Returns null if the action is not allowed. */
export const closeBySteps = defineTransaction(
  'closeBySteps',
  function* ({ action, id, accountId }: Closing): Steps<OrderRow | null> {
    const [pet] = yield* step(writePetOf[action], { id, accountId });
    if (pet === undefined) return null;
    const [row] = yield* step(writeOrder[action], { id });
    return row ?? null;
  },
  'row locks',
);

/**
 * Runs an action on an order and returns the row of the order. Repeating an action changes nothing. Throws `not_found`,
 * `order_closed` and `order_expired`.
 */
export async function closeOrder(database: Database, closing: Closing): Promise<OrderRow> {
  const { action, id, accountId } = closing;
  const row =
    database.engine === 'postgres'
      ? (await database.run(closeInOneStatement[action], { id, accountId }))[0]
      : await database.transact(closeBySteps, closing);
  if (row !== undefined && row !== null) return row;
  return await readClosed(database, closing);
}

/**
 * Reads an order after its action was not allowed. Returns the order if it already has the status that the action
 * sets. Otherwise throws the reason: `not_found`, `order_closed` or `order_expired`.
 */
export async function readClosed(
  database: Pick<Database, 'read'>,
  { action, id, accountId }: Closing,
): Promise<OrderRow> {
  const [found] = await database.read(selectOrder, { id, accountId });
  return requireDone(action, found);
}

function requireDone(action: OrderAction, found: OrderRow | undefined): OrderRow {
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
