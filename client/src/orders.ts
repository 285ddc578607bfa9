import type { ListOrdersQuery, NewOrder, Order } from './generated.ts';
import type { CallOperation, CreateOptions, WithResponse } from './operation-call.ts';
import { createLists, type Page } from './page.ts';
import type { CallOptions, Transport } from './transport.ts';

export type OrderAnswer = WithResponse<Order>;

export interface OrdersListOptions extends ListOrdersQuery, CallOptions {}

export interface OrdersListAllOptions extends Omit<OrdersListOptions, 'cursor'> {}

/**
 * The orders of the account. With the scope `orders:manage`, the orders of all accounts. A method that fails rejects
 * with AnimalStoreError.
 */
export interface Orders {
  /** Reserves an animal. Retries have the same idempotency key, so they place only one order. */
  place(newOrder: NewOrder, options?: CreateOptions): Promise<OrderAnswer>;
  /** Returns one page, newest orders first. The default `limit` is 20. */
  list(options?: OrdersListOptions): Promise<Page<Order>>;
  /** Yields all orders, page by page. Every order that existed at the start is yielded exactly once. */
  listAll(options?: OrdersListAllOptions): AsyncGenerator<Order, void, undefined>;
  get(orderId: bigint | number, options?: CallOptions): Promise<OrderAnswer>;
  /** Completes a reserved order, so that the animal is sold. Fails with `order_expired` if the hold has expired. */
  complete(orderId: bigint | number, options?: CallOptions): Promise<OrderAnswer>;
  /** Cancels a reserved order. The animal becomes available again. */
  cancel(orderId: bigint | number, options?: CallOptions): Promise<OrderAnswer>;
  /** Returns a completed order. The animal becomes pending. Needs `orders:manage`. */
  return(orderId: bigint | number, options?: CallOptions): Promise<OrderAnswer>;
}

export function createOrders(call: CallOperation, send: Transport): Orders {
  return {
    ...createLists<'listOrders', OrdersListOptions>(send, 'listOrders'),
    place: (newOrder, options) => call('placeOrder', { body: newOrder }, options),
    get: (orderId, options) => call('getOrder', { id: orderId }, options),
    complete: (orderId, options) => call('completeOrder', { id: orderId }, options),
    cancel: (orderId, options) => call('cancelOrder', { id: orderId }, options),
    return: (orderId, options) => call('returnOrder', { id: orderId }, options),
  };
}
