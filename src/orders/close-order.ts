import { AppError } from '../errors.ts';
import { type Database, defineWork, step, type Work } from '../storage/database.ts';
import {
  closeInOneStatement,
  type OrderAction,
  transitions,
  writeOrder,
  writePetOf,
} from './close-order-rows.ts';
import type { OrderRow } from './order.ts';
import { selectOrder } from './order-rows.ts';

/** An action on an order. */
export interface Closing {
  readonly action: OrderAction;
  readonly id: bigint;
  /** The account of the calling key. Null for a key that may change the orders of all accounts. */
  readonly accountId: bigint | null;
}

/** Does an action on SQLite. Returns null if it is not allowed. */
export const closeBySteps = defineWork(
  import.meta.url,
  'closeBySteps',
  function* ({ action, id, accountId }: Closing): Work<OrderRow | null> {
    const [pet] = yield* step(writePetOf[action], { id, accountId });
    if (pet === undefined) return null;
    const [row] = yield* step(writeOrder[action], { id });
    return row ?? null;
  },
  'row locks',
);

/**
 * Does an action on an order and returns its row. An action that was already done changes nothing. Throws `not_found`,
 * `order_closed` and `order_expired`.
 */
export async function closeOrder(database: Database, closing: Closing): Promise<OrderRow> {
  const { action, id, accountId } = closing;
  const row =
    database.engine === 'postgres'
      ? (await database.run(closeInOneStatement[action], { id, accountId }))[0]
      : await database.transact(closeBySteps, closing);
  if (row !== undefined && row !== null) return row;
  const [found] = await database.read(selectOrder, { id, accountId });
  return requireDone(action, found);
}

/** Returns the order if the action was already done, and otherwise throws the reason why it is not allowed. */
function requireDone(action: OrderAction, found: OrderRow | undefined): OrderRow {
  if (found === undefined) throw orderNotFound();
  const { from, to } = transitions[action];
  if (found.status === to) return found;
  const isPast = found.status === 'expired' || (found.status === 'reserved' && from === 'reserved');
  if (action === 'complete' && isPast) {
    const at = new Date(Number(found.expires_at_ms)).toISOString();
    throw new AppError('order_expired', `this order expired at ${at}`);
  }
  const status = isPast ? 'expired' : found.status;
  throw new AppError('order_closed', `this order is ${status}: only one that is ${from} can be ${to}`);
}

/** The error if the account has no order with an id. */
export function orderNotFound(): AppError {
  return new AppError('not_found', 'orderId: there is no order with this identifier');
}
