import type { Operation } from '../../operation.ts';
import { cancelOrder } from './cancel-order.ts';
import { completeOrder } from './complete-order.ts';
import { getOrder } from './get-order.ts';
import { listOrders } from './list-orders.ts';
import { placeOrder } from './place-order.ts';
import { returnOrder } from './return-order.ts';

/** The operations on orders (contract section 12). */
export const orderOperations: readonly Operation[] = [
  listOrders,
  placeOrder,
  getOrder,
  completeOrder,
  cancelOrder,
  returnOrder,
];
