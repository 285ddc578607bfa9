import { OrderSchema, writeOrders } from '../../../orders/order.ts';
import { defineOperation } from '../../operation.ts';
import { completed } from './examples.ts';
import { OrderParams, readOrderId } from './order-id.ts';
import { readerOf } from './order-reader.ts';

/** `POST /orders/{orderId}/complete`: sells the reserved animal (contract section 12). */
export const completeOrder = defineOperation({
  id: 'completeOrder',
  method: 'POST',
  path: '/orders/{orderId}/complete',
  tag: 'orders',
  scope: 'orders:write',
  stability: 'beta',
  summary: 'Complete an order',
  description:
    'Sells the reserved animal, which becomes `sold`. An order cannot be completed after its `expiresAt`, so authorise the payment before this call and capture it after. Completing it again changes nothing and returns the same answer. No body is needed.',
  params: OrderParams,
  answers: {
    200: {
      description: 'The animal is sold.',
      body: OrderSchema,
      examples: { completed: { summary: 'The order', value: completed } },
    },
  },
  failures: ['not_found', 'order_closed', 'order_expired'],

  async handle({ params, caller }, { orders }) {
    const order = await orders.close('complete', readOrderId(params), readerOf(caller));
    return { status: 200, text: writeOrders(order) };
  },
});
