import Type from 'typebox';
import { OrderStatusSchema } from '../../../../orders/order.ts';
import { readOrderTime } from '../../../../orders/order-time.ts';
import { everyAccount } from '../../../acts/acts.ts';
import { defineConsoleOperation } from '../../operation.ts';
import { beforeField, int64Filter, pageRows, textFilter } from '../fields.ts';

/**
 * Returns a page of the orders of one or all accounts. `nowMs` is the time of the clock that decides whether a hold has
 * expired.
 */
export const listOrders = defineConsoleOperation({
  method: 'GET',
  path: '/orders',
  query: Type.Object({
    status: Type.Optional(OrderStatusSchema),
    petId: int64Filter,
    reference: textFilter,
    account: textFilter,
    before: beforeField,
  }),

  async handle(
    { query: { status = null, petId = null, reference = null, account, before = null } },
    services,
  ) {
    const ofAccount = account === undefined ? null : await services.accounts.findId(account);
    const filter = { limit: pageRows, status, petId, reference, ofAccount, newestId: before };
    const [page, nowMs] = await Promise.all([
      services.orders.list(filter, everyAccount),
      readOrderTime(services.database),
    ]);
    return { items: page.orders, next: page.nextNewestId, nowMs };
  },
});
