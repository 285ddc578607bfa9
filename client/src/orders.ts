import { attachResponse, readCallOptions, readIdempotencyKey, type WithResponse } from './call.ts';
import { argumentError } from './errors.ts';
import { stringifyExactJson } from './exact-json.ts';
import { type ListOrdersQuery, type NewOrder, type Order, operations } from './generated.ts';
import { toInt64 } from './int64.ts';
import { createLists, type Page } from './page.ts';
import type { CreateOptions } from './pets.ts';
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

export function createOrders(send: Transport): Orders {
  function createCall(operation: 'getOrder' | 'completeOrder' | 'cancelOrder' | 'returnOrder') {
    return async (orderId: bigint | number, options?: CallOptions): Promise<OrderAnswer> => {
      const { signal } = readCallOptions(options);
      const path = operations[operation].path.replace('{orderId}', String(toInt64('orderId', orderId)));
      return attachResponse(await send({ operation, path, isExpected: isOrder }, { signal }));
    };
  }

  return {
    ...createLists<Order, OrdersListOptions>(send, 'listOrders', { isItem: isOrder, readFilters }),
    async place(newOrder, options) {
      const { idempotencyKey, signal } = readCallOptions(options);
      const headers = { 'idempotency-key': readIdempotencyKey(idempotencyKey) };
      const { path } = operations.placeOrder;
      const body = writeOrder(newOrder);
      const call = { operation: 'placeOrder', path, headers, body, isExpected: isOrder } as const;
      return attachResponse(await send(call, { signal }));
    },
    get: createCall('getOrder'),
    complete: createCall('completeOrder'),
    cancel: createCall('cancelOrder'),
    return: createCall('returnOrder'),
  };
}

function readFilters({ status, petId, reference }: OrdersListOptions) {
  return { status, petId: petId === undefined ? undefined : toInt64('petId', petId), reference };
}

function writeOrder(newOrder: NewOrder): string {
  if (typeof newOrder !== 'object' || newOrder === null)
    throw argumentError('newOrder', 'must be an object with petId');
  const petId = toInt64('petId', newOrder.petId);
  try {
    return stringifyExactJson({ ...newOrder, petId });
  } catch {
    throw argumentError('newOrder', 'must be serializable as JSON, without circular references');
  }
}

function isOrder(value: unknown): value is Order {
  if (typeof value !== 'object' || value === null) return false;
  const { id, petId, status, createdAt, expiresAt } = value as Record<string, unknown>;
  const texts = [status, createdAt, expiresAt];
  return (
    typeof id === 'bigint' && typeof petId === 'bigint' && texts.every((text) => typeof text === 'string')
  );
}
