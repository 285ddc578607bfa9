import type { Given, Idempotency } from '../idempotency/answer-once.ts';
import type { FirstAnswers } from '../idempotency/first-answers.ts';
import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import type { Database } from '../storage/database.ts';
import { close, type OrderAction, orderNotFound } from './close-order.ts';
import { expireOrders } from './expire-orders.ts';
import { type Order, type OrderStatus, toOrder } from './order.ts';
import { type OrderFilter, selectOrder, selectOrders } from './order-rows.ts';
import { placeOrder } from './place-order.ts';

export interface OrderReader {
  readonly accountId: bigint;
  /** True if the key has `orders:manage`, so that it can read and change the orders of all accounts. */
  readonly isManager: boolean;
}

/** A reader of the orders of all accounts. */
export const everyAccount: OrderReader = { accountId: 0n, isManager: true };

/** A new order after validation, with its defaults. */
export interface CompleteOrder {
  readonly petId: bigint;
  readonly holdMs: number;
  readonly reference: string | null;
}

/** A query for a page of orders. A null filter means no filter. */
export interface OrderQuery {
  /** Maximum number of orders on the page. */
  readonly limit: number;
  readonly status: OrderStatus | null;
  readonly petId: bigint | null;
  readonly reference: string | null;
  /** For a manager: lists only the orders of this account. Null lists the orders of all accounts. */
  readonly ofAccount?: bigint | null;
  /** The highest id that the page may contain. Null starts with the newest order. */
  readonly newestId: bigint | null;
}

/**
 * The orders of a store (contract section 12). A reader that is not a manager sees only the orders of its account;
 * other orders count as not found. An expired hold is `expired` at once, even before a job closes it. Methods also
 * throw the errors of the database (database.ts).
 */
export interface Orders {
  /**
   * Reserves an animal and returns the response. With an idempotency key, repeated requests reserve the animal only
   * once.
   *
   * Throws `not_found`, `pet_unavailable`, `limit_reached`, `idempotency_key_reused` and `idempotency_key_in_use`.
   */
  place(order: CompleteOrder, reader: OrderReader, idempotency: Idempotency | null): Promise<Given>;
  list(query: OrderQuery, reader: OrderReader): Promise<Page<Order>>;
  /** Throws `not_found`. */
  get(id: bigint, reader: OrderReader): Promise<Order>;
  /** Completes, cancels or returns an order. Throws `not_found`, `order_closed` and `order_expired`. */
  close(action: OrderAction, id: bigint, reader: OrderReader): Promise<Order>;
  /** Closes all expired holds and returns their number. Every instance runs this as a job. */
  expire(): Promise<number>;
}

/** Creates the orders of a store. */
export function createOrders(database: Database, firstAnswers: FirstAnswers): Orders {
  return {
    place(order, { accountId, isManager }, idempotency) {
      const act = () => database.transact(placeOrder, { ...order, accountId, isManager, idempotency });
      return idempotency === null ? act() : firstAnswers.run(idempotency, act);
    },

    async list({ limit, newestId, ofAccount = null, ...filters }, reader) {
      const filter: OrderFilter = { ...filters, accountId: ownerOf(reader) ?? ofAccount };
      const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
      const rows = await database.read(selectOrders(filter), { ...filter, ...range });
      return toPage(rows, limit, (row) => toOrder(row, reader.isManager));
    },

    async get(id, reader) {
      const [row] = await database.read(selectOrder, { id, accountId: ownerOf(reader) });
      if (row === undefined) throw orderNotFound();
      return toOrder(row, reader.isManager);
    },

    async close(action, id, reader) {
      return toOrder(await close(database, { action, id, accountId: ownerOf(reader) }), reader.isManager);
    },

    expire: () => expireOrders(database),
  };
}

function ownerOf({ accountId, isManager }: OrderReader): bigint | null {
  return isManager ? null : accountId;
}
