import Type from 'typebox';
import { OrderStatusSchema } from '../../../orders/order.ts';
import { readOrderTime } from '../../../orders/order-rows.ts';
import { everyAccount } from '../../../orders/orders.ts';
import { defineConsoleOperation } from '../operation.ts';
import { beforeField, int64Filter, pageRows, readId, textFilter } from './fields.ts';

/**
 * Returns a page of the orders of one or all accounts. `nowMs` is the time of the clock that decides whether a hold has
 * expired.
 */
const listOrders = defineConsoleOperation({
  method: 'GET',
  path: '/orders',
  query: Type.Object({
    status: Type.Optional(OrderStatusSchema),
    petId: int64Filter,
    reference: textFilter,
    account: textFilter,
    before: beforeField,
  }),

  async handle({ query }, { accounts, orders, database }) {
    const { status = null, petId = null, reference = null, account, before = null } = query;
    const ofAccount = account === undefined ? null : await accounts.findId(account);
    const filter = { limit: pageRows, status, petId, reference, ofAccount, newestId: before };
    const [page, nowMs] = await Promise.all([orders.list(filter, everyAccount), readOrderTime(database)]);
    return { ...page, nowMs };
  },
});

function closeBy(action: 'cancel' | 'return') {
  return defineConsoleOperation({
    method: 'POST',
    path: `/orders/{orderId}/${action}`,
    handle: async ({ params, changes }) => changes.closeOrder(action, readId(params['orderId'], 'order')),
  });
}

export const orderOperations = [listOrders, closeBy('cancel'), closeBy('return')];
