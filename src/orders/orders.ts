import type { Given, Idempotency } from '../idempotency/first-answer.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import { int64Max } from '../int64.ts';
import { after, type Soon } from '../soon.ts';
import type { Database } from '../storage/database.ts';
import { closeOrder, orderNotFound } from './close-order.ts';
import type { OrderAction } from './close-order-rows.ts';
import { expireOrders } from './expire-orders.ts';
import { type Order, type OrderStatus, toOrder } from './order.ts';
import { type OrderFilter, selectOrders } from './order-page-rows.ts';
import { selectOrder } from './order-rows.ts';
import { createPlacing } from './place-in-turn.ts';

/** The reader of orders. */
export interface OrderReader {
  readonly accountId: bigint;
  /** Whether the key has `orders:manage` and so can see and change the orders of all accounts. */
  readonly isManager: boolean;
}

/** A new order, complete and validated. */
export interface CompleteOrder {
  readonly petId: bigint;
  readonly holdMs: number;
  readonly reference: string | null;
}

/** A query for a page of orders. A null filter means no filter. */
export interface OrderQuery {
  /** The most orders on the page, 1 to 100. */
  readonly limit: number;
  readonly status: OrderStatus | null;
  readonly petId: bigint | null;
  readonly reference: string | null;
  /** Only orders of this account. Null means all orders that the reader sees. */
  readonly ofAccount?: bigint | null;
  /** Only orders whose id is at most this. Null begins with the newest. */
  readonly newestId: bigint | null;
}

/** A page of orders, newest first. `nextNewestId` is the first id of the next page, or null on the last page. */
export interface OrderPage {
  readonly orders: readonly Order[];
  readonly nextNewestId: bigint | null;
}

/**
 * The orders of a store (contract section 12). For a reader that is not a manager, orders of other accounts do not
 * exist. A hold is expired from its end on. Fails as the database does (database.ts).
 */
export interface Orders {
  /**
   * Reserves an animal and returns the answer. With an idempotency key it reserves once, however often the request is
   * sent. Throws `not_found`, `pet_unavailable`, `limit_reached`, `idempotency_key_reused` and
   * `idempotency_key_in_use`.
   */
  place(order: CompleteOrder, reader: OrderReader, idempotency: Idempotency | null): Promise<Given>;
  /** A page of orders, newest first. */
  list(query: OrderQuery, reader: OrderReader): Soon<OrderPage>;
  /** Throws `not_found`. */
  get(id: bigint, reader: OrderReader): Soon<Order>;
  /** Completes, cancels or returns an order. Throws `not_found`, `order_closed` and `order_expired`. */
  close(action: OrderAction, id: bigint, reader: OrderReader): Promise<Order>;
  /** Closes all expired holds and returns how many it closed. Every instance runs it as a job. */
  expire(): Promise<number>;
}

/** Creates the orders of a store. `onWrite` is called after the commit of every change of an animal. */
export function createOrders(database: Database, firstAnswers: FirstAnswers, onWrite: () => void): Orders {
  const place = createPlacing(database, firstAnswers);

  return {
    async place(order, { accountId, isManager }, idempotency) {
      const act = (nowMs: number) =>
        place({ ...order, accountId, isManager, idempotency, nowMs, closesOverdue: false });
      const given = await (idempotency === null ? act(0) : firstAnswers.run(idempotency, act));
      onWrite();
      return given;
    },

    list({ limit, newestId, ofAccount = null, ...filters }, reader) {
      const filter: OrderFilter = { ...filters, accountId: ownerOf(reader) ?? ofAccount };
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
