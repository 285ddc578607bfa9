import Type, { type Static } from 'typebox';
import { OrderSchema, OrderStatusSchema, writeOrders } from '../../../orders/order.ts';
import type { OrderReader } from '../../../orders/orders.ts';
import { int64Field, nameField } from '../../../schema.ts';
import { after } from '../../../soon.ts';
import { defineOperation } from '../../operation.ts';
import { cursorField, defaultLimit, invalidCursor, limitField, limitMax } from '../page-query.ts';
import { completed, reserved } from './examples.ts';
import { readerOf } from './order-reader.ts';

const cursorRule = 'must be copied from the Link of a page with the same filters';

const ListOrdersQuery = Type.Object({
  limit: Type.Optional(limitField('orders')),
  status: Type.Optional({ ...OrderStatusSchema, examples: ['reserved'] }),
  petId: Type.Optional({ ...int64Field('Only orders for this animal.'), examples: [42] }),
  reference: Type.Optional(nameField('Only orders with this reference.', 'A-1017')),
  cursor: Type.Optional(cursorField(cursorRule, 'BAAAAAAAAAAHrK1CcODeb8rGtA')),
});

/** `GET /orders`: returns a page of orders (contract section 12). */
export const listOrders = defineOperation({
  id: 'listOrders',
  method: 'GET',
  path: '/orders',
  tag: 'orders',
  scope: 'orders:read',
  stability: 'beta',
  summary: 'List orders',
  description:
    'Returns a paginated list of the orders of the account, newest first. The scope `orders:manage` shows the orders of all accounts. A hold is expired from its `expiresAt` on. Follow the `Link` with `rel="next"` until there is none.',
  query: ListOrdersQuery,
  answers: {
    200: {
      description: 'A page of orders.',
      body: Type.Array(OrderSchema, { maxItems: limitMax }),
      headers: ['Link'],
      examples: {
        page: { summary: 'Two orders', value: [{ ...completed, id: 8, petId: 43 }, reserved] },
        empty: { summary: 'No order', value: [] },
      },
    },
  },

  handle({ query, caller }, { orders, cursors, baseUrl }) {
    const { limit = defaultLimit, status = null, petId = null, reference = null, cursor } = query;
    const reader = readerOf(caller);
    const list = nameList(query, reader);
    const newestId = cursor === undefined ? null : cursors.read(cursor, list);
    if (cursor !== undefined && newestId === null) throw invalidCursor(cursorRule);
    const page = orders.list({ limit, status, petId, reference, newestId }, reader);
    return after(page, ({ orders: listed, nextNewestId }) => {
      const text = writeOrders(listed);
      if (nextNewestId === null) return { status: 200, text };
      const next = cursors.write(list, nextNewestId);
      const link = `<${baseUrl}/orders?limit=${limit}${formatFilters(query)}&cursor=${next}>; rel="next"`;
      return { status: 200, text, headers: { link } };
    });
  },
});

type Query = Static<typeof ListOrdersQuery>;

function formatFilters({ status, petId, reference }: Query): string {
  return Object.entries({ status, petId, reference })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `&${name}=${encodeURIComponent(String(value))}`)
    .join('');
}

/** Identifies a list for its cursors: by the accounts whose orders are visible, and by the filters. */
function nameList(query: Query, { accountId, isManager }: OrderReader): string {
  return `/orders?of=${isManager ? 'all' : accountId}${formatFilters(query)}`;
}
