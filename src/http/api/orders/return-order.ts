import { OrderSchema, writeOrders } from '../../../orders/order.ts';
import { defineOperation } from '../../operation.ts';
import { returned } from './examples.ts';
import { OrderParams, readOrderId } from './order-id.ts';
import { readerOf } from './order-reader.ts';

/** `POST /orders/{orderId}/return`: takes a sold animal back (contract section 12). */
export const returnOrder = defineOperation({
  id: 'returnOrder',
  method: 'POST',
  path: '/orders/{orderId}/return',
  tag: 'orders',
  scope: 'orders:manage',
  stability: 'beta',
  summary: 'Take an order back',
  description:
    'Records that a sold animal has come back. The animal is `pending` and has no order until staff change its status. Returning it again changes nothing and returns the same answer. No body is needed.',
  params: OrderParams,
  answers: {
    200: {
      description: 'The animal has come back.',
      body: OrderSchema,
      examples: { returned: { summary: 'The order', value: returned } },
    },
  },
  failures: ['not_found', 'order_closed'],

  async handle({ params, caller }, { orders }) {
    const order = await orders.close('return', readOrderId(params), readerOf(caller));
    return { status: 200, text: writeOrders(order) };
  },
});
