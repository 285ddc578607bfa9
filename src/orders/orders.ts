import { AppError } from '../errors.ts';
import type { Given, Idempotency } from '../idempotency/first-answer.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import { int64Max } from '../int64.ts';
import { after, type Soon } from '../soon.ts';
import { isUniqueViolation } from '../storage/constraint.ts';
import type { Database } from '../storage/database.ts';
import { closeOrder, orderNotFound } from './close-order.ts';
import type { OrderAction } from './close-order-rows.ts';
import { expireOrders } from './expire-orders.ts';
import { type Order, type OrderStatus, toOrder } from './order.ts';
import { type OrderFilter, selectOrder, selectOrders } from './order-rows.ts';
import { type Placing, placeOrder } from './place-order.ts';
import { selectObstacle } from './place-order-rows.ts';

/** Who asks for orders. */
export interface OrderReader {
  readonly accountId: bigint;
  /** Whether the key has `orders:manage`: it sees and changes the orders of every account. */
  readonly isManager: boolean;
}

/** An order to be placed, complete and checked. */
export interface CompleteOrder {
  readonly petId: bigint;
  readonly holdMs: number;
  readonly reference: string | null;
}

/** Which page of the orders is asked for; a filter that is null is none. */
export interface OrderQuery {
  /** The most orders that a page holds, 1 to 100. */
  readonly limit: number;
  readonly status: OrderStatus | null;
  readonly petId: bigint | null;
  readonly reference: string | null;
  /** Only orders whose id is at most this; null begins with the newest. */
  readonly newestId: bigint | null;
}

/** A page of orders, newest first, and where the next one begins; null on the last page. */
export interface OrderPage {
  readonly orders: readonly Order[];
  readonly nextNewestId: bigint | null;
}

/**
 * The orders of a store (contract section 12). What belongs to another account is not there for a reader that is no
 * manager. A hold counts as ended from its end on. Fails as the database does (database.ts).
 */
export interface Orders {
  /**
   * Reserves an animal and gives what to answer; under an idempotency key once, however often it is sent. Throws
   * `not_found`, `pet_unavailable`, `limit_reached`, `idempotency_key_reused` and `idempotency_key_in_use`.
   */
  place(order: CompleteOrder, reader: OrderReader, idempotency: Idempotency | null): Promise<Given>;
  /** A page of orders, newest first. */
  list(query: OrderQuery, reader: OrderReader): Soon<OrderPage>;
  /** Throws `not_found`. */
  get(id: bigint, reader: OrderReader): Soon<Order>;
  /** Completes, cancels or takes back. Throws `not_found`, `order_closed` and `order_expired`. */
  close(action: OrderAction, id: bigint, reader: OrderReader): Promise<Order>;
  /** Closes all holds that are over and gives their number: a job of every instance. */
  expire(): Promise<number>;
}

/** The orders of a store. `onWrite` is told after the commit of what has changed an animal. */
export function createOrders(database: Database, firstAnswers: FirstAnswers, onWrite: () => void): Orders {
  async function place(placing: Placing): Promise<Given> {
    try {
      return await database.transact(placeOrder, placing);
    } catch (error) {
      // An animal that an operator has called available by hand while an order owns it.
      if (isUniqueViolation(error)) throw petUnavailable(error);
      if (placing.closesOverdue || !isUnavailable(error)) throw error;
      const [obstacle] = await database.read(selectObstacle, { petId: placing.petId });
      if (obstacle === undefined) throw petNotFound();
      if (obstacle.overdue_id === null) throw error;
      return place({ ...placing, closesOverdue: true });
    }
  }

  return {
    async place(order, { accountId, isManager }, idempotency) {
      const act = (nowMs: number) =>
        place({ ...order, accountId, isManager, idempotency, nowMs, closesOverdue: false });
      const given = await (idempotency === null ? act(0) : firstAnswers.run(idempotency, act));
      onWrite();
      return given;
    },

    list({ limit, newestId, ...filters }, reader) {
      const filter: OrderFilter = { ...filters, accountId: ownerOf(reader) };
      const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
      const found = database.read(selectOrders(filter), { ...filter, ...range });
      return after(found, (rows) => ({
        orders: rows.slice(0, limit).map((row) => toOrder(row, reader.isManager)),
        nextNewestId: rows[limit]?.id ?? null,
      }));
    },

    get(id, reader) {
      return after(database.read(selectOrder, { id, accountId: ownerOf(reader) }), ([row]) => {
        if (row === undefined) throw orderNotFound();
        return toOrder(row, reader.isManager);
      });
    },

    async close(action, id, reader) {
      const row = await closeOrder(database, { action, id, accountId: ownerOf(reader) });
      onWrite();
      return toOrder(row, reader.isManager);
    },

    async expire() {
      const closed = await expireOrders(database);
      if (closed > 0) onWrite();
      return closed;
    },
  };
}

function ownerOf({ accountId, isManager }: OrderReader): bigint | null {
  return isManager ? null : accountId;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof AppError && error.code === 'pet_unavailable';
}

function petUnavailable(cause: unknown): AppError {
  return new AppError('pet_unavailable', 'petId: this animal is not available', { cause });
}

function petNotFound(): AppError {
  return new AppError('not_found', 'petId: there is no animal with this identifier');
}
