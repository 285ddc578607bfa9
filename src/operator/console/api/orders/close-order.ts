import type { OrderAction } from '../../../../orders/close-order-rows.ts';
import { type AnyConsoleOperation, defineConsoleOperation } from '../../operation.ts';
import { readId } from '../fields.ts';

function closeBy(action: Exclude<OrderAction, 'complete'>): AnyConsoleOperation {
  return defineConsoleOperation({
    method: 'POST',
    path: `/orders/{orderId}/${action}`,
    handle: ({ params, signedIn }, { actAs }) =>
      actAs(signedIn).closeOrder(action, readId(params['orderId'], 'order')),
  });
}

export const cancelOrder = closeBy('cancel');
export const returnOrder = closeBy('return');
