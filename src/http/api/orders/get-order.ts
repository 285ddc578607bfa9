import { OrderSchema, writeOrders } from '../../../orders/order.ts';
import { after } from '../../../soon.ts';
import { defineOperation } from '../../operation.ts';
import { completed, reserved } from './examples.ts';
import { OrderParams, readOrderId } from './order-id.ts';
import { readerOf } from './order-reader.ts';

/** `GET /orders/{orderId}`: returns an order (contract section 12). */
export const getOrder = defineOperation({
  id: 'getOrder',
  method: 'GET',
  path: '/orders/{orderId}',
  tag: 'orders',
  scope: 'orders:read',
  stability: 'beta',
  summary: 'Get an order',
  description:
    'Returns one order of the account, or of any account with the scope `orders:manage`. A hold is expired from its `expiresAt` on.',
  params: OrderParams,
  answers: {
    200: {
      description: 'The requested order.',
      body: OrderSchema,
      examples: {
        reserved: { summary: 'An open hold', value: reserved },
        completed: { summary: 'A sale', value: completed },
      },
    },
  },
  failures: ['not_found'],

  handle({ params, caller }, { orders }) {
    return after(orders.get(readOrderId(params), readerOf(caller)), (order) => ({
      status: 200,
      text: writeOrders(order),
    }));
  },
});
