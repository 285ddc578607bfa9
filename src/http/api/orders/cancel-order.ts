import { OrderSchema, writeOrders } from '../../../orders/order.ts';
import { defineOperation } from '../../operation.ts';
import { cancelled } from './examples.ts';
import { OrderParams, readOrderId } from './order-id.ts';
import { readerOf } from './order-reader.ts';

/** `POST /orders/{orderId}/cancel`: releases the reserved animal (contract section 12). */
export const cancelOrder = defineOperation({
  id: 'cancelOrder',
  method: 'POST',
  path: '/orders/{orderId}/cancel',
  tag: 'orders',
  scope: 'orders:write',
  stability: 'beta',
  summary: 'Cancel an order',
  description:
    'Cancels a hold; the animal is `available` again. Cancelling it again changes nothing and returns the same answer. No body is needed.',
  params: OrderParams,
  answers: {
    200: {
      description: 'The hold is cancelled.',
      body: OrderSchema,
      examples: { cancelled: { summary: 'The order', value: cancelled } },
    },
  },
  failures: ['not_found', 'order_closed'],

  async handle({ params, caller }, { orders }) {
    const order = await orders.close('cancel', readOrderId(params), readerOf(caller));
    return { status: 200, text: writeOrders(order) };
  },
});
