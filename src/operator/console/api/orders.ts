import Type from 'typebox';
import { OrderStatusSchema } from '../../../orders/order.ts';
import { readOrderTime } from '../../../orders/order-rows.ts';
import { everyAccount } from '../../../orders/orders.ts';
import { operation } from '../operation.ts';
import { int64Filter, pageRows, readId, textFilter } from './fields.ts';

const filters = {
  status: Type.Optional(OrderStatusSchema),
  petId: int64Filter,
  reference: textFilter,
  account: textFilter,
  before: int64Filter,
};

function closeBy(action: 'cancel' | 'return') {
  return operation(`POST /orders/{orderId}/${action}`, {}, async ({ orderId }, { changes }) =>
    changes.closeOrder(action, readId(orderId, 'order')),
  );
}

export const orderOperations = [
  /**
   * Returns a page of the orders of one or all accounts. `nowMs` is the time of the clock that decides whether a hold has
   * expired.
   */
  operation('GET /orders', filters, async (query, { accounts, orders, database }) => {
    const { status = null, petId = null, reference = null, account, before = null } = query;
    const ofAccount = account === undefined ? null : await accounts.findId(account);
    const filter = { limit: pageRows, status, petId, reference, ofAccount, newestId: before };
    const [page, nowMs] = await Promise.all([orders.list(filter, everyAccount), readOrderTime(database)]);
    return { ...page, nowMs };
  }),

  closeBy('cancel'),
  closeBy('return'),
];
