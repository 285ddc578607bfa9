import { notFound } from '../errors.ts';
import type { FirstAnswers, Given, Idempotency } from '../idempotency/answer-once.ts';
import type { Catalogue } from '../pets/catalogue.ts';
import type { Database } from '../storage/database.ts';
import type { Page } from '../storage/read-page.ts';
import { type PageQuery, readPage } from '../storage/read-page.ts';
import { closeOrder, expireOrders, type OrderAction } from './close-order.ts';
import { type Order, type OrderStatus, toOrder } from './order.ts';
import { type OrderFilter, selectOrder, selectOrders } from './order-rows.ts';
import { type CompleteOrder, type OrderKey, type OrderReader, placeOrder } from './place-order.ts';

export const everyAccount: OrderReader = { accountId: 0n, isManager: true };

type OrderQuery = PageQuery<Omit<OrderFilter, 'accountId'>> & {
  /** Null or absent: no filter. */
  readonly status?: OrderStatus | null;
  /** For a manager: lists only the orders of this account. */
  readonly ofAccount?: bigint | null;
};

export type Orders = ReturnType<typeof createOrders>;

/**
 * The orders of a store. A reader that is not a manager sees only the orders of its account; others count as not found.
 * An expired hold is `expired` at once, even before a job closes it. Methods throw the errors of the database.
 */
export function createOrders(database: Database, firstAnswers: FirstAnswers) {
  /** Returns null if there is no such order. */
  async function find(id: bigint, reader: OrderReader): Promise<Order | null> {
    const [row] = await database.read(selectOrder, { id, accountId: ownerOf(reader) });
    return row === undefined ? null : toOrder(row, reader.isManager);
  }

  return {
    /** Reserves an animal, once per idempotency key, and returns the response. Throws as `placeOrder` and `answerOnce` do. */
    place(order: CompleteOrder, key: OrderKey, idempotency: Idempotency | null): Promise<Given> {
      const act = () => database.transact(placeOrder, { ...order, ...key, idempotency }, key.accountId);
      return idempotency === null ? act() : firstAnswers.run(idempotency, act);
    },

    list({ status, ofAccount, ...query }: OrderQuery, reader: OrderReader): Promise<Page<Order>> {
      const filtered = { ...query, accountId: ownerOf(reader) ?? ofAccount };
      return readPage(database, selectOrders(status), filtered, (row) => toOrder(row, reader.isManager));
    },

    find,

    /** Throws `not_found`. */
    async get(id: bigint, reader: OrderReader): Promise<Order> {
      const order = await find(id, reader);
      if (order === null) throw notFound('orderId', 'order');
      return order;
    },

    /** Completes, cancels or returns an order. Throws `not_found`, `order_closed` and `order_expired`. */
    async close(action: OrderAction, id: bigint, key: OrderKey): Promise<Order> {
      const { row } = await database.transact(
        closeOrder,
        { action, id, accountId: ownerOf(key), key },
        key.accountId,
      );
      return toOrder(row, key.isManager);
    },

    /** Closes all expired holds and returns their number. A job of every instance. */
    expire: () => expireOrders(database),
  };
}

function ownerOf({ accountId, isManager }: OrderReader): bigint | null {
  return isManager ? null : accountId;
}

interface Rooms {
  readonly orders: Pick<Orders, 'get'>;
  readonly catalogue: Pick<Catalogue, 'get'>;
}

/** Returns an order of any account with its animal, null if that is deleted. Throws `not_found`. */
export async function getWithPet({ orders, catalogue }: Rooms, id: bigint) {
  const order = await orders.get(id, everyAccount);
  return { order, pet: await catalogue.get(order.petId) };
}
