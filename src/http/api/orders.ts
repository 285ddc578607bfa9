import Type from 'typebox';
import type { Caller } from '../../accounts/account.ts';
import { type Clock, secondMs } from '../../clock.ts';
import { AppError, notFound } from '../../errors.ts';
import { stringifyExactJson } from '../../exact-json.ts';
import type { OrderAction } from '../../orders/close-order.ts';
import { createNewOrderSchema, holdSeconds, OrderSchema, OrderStatusSchema } from '../../orders/order.ts';
import { type OrderKey, type OrderReader, petUnavailable } from '../../orders/place-order.ts';
import { int64Field, nameField } from '../../schema.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { answer, defineIdParameter, definePages, example, openPage, reply, toOutcome } from './parts.ts';

const reserved = {
  id: 7,
  petId: 42,
  status: 'reserved',
  reference: 'A-1017',
  createdAt: '2027-01-02T12:00:00.000Z',
  expiresAt: '2027-01-02T12:15:00.000Z',
};
const completed = { ...reserved, status: 'completed', closedAt: '2027-01-02T12:03:20.512Z' };
const cancelled = { ...completed, status: 'cancelled' };
const returned = { ...completed, status: 'returned', account: 'Acme Zoo' };
const placed = { reserved: example('The new order', reserved) };
export const orderExamples = {
  reserved,
  completed,
  cancelled,
  expired: { ...completed, status: 'expired', closedAt: reserved.expiresAt },
  returned: { ...completed, status: 'returned' },
};

const orderId = defineIdParameter('orderId', 'order', 7);

/** Returns which orders a caller may read. With `orders:manage`, these are the orders of all accounts. */
function orderReaderOf({ accountId, scopes }: Caller): OrderReader {
  return { accountId, isManager: scopes.includes('orders:manage') };
}

function keyOf(caller: Caller, clock: Clock): OrderKey {
  return { ...orderReaderOf(caller), keyId: caller.keyId, nowMs: clock() };
}

const unchanged = 'again changes nothing and returns the same response. No body is needed.';

function closeBy(action: OrderAction): Operation['handle'] {
  return async ({ params, caller }, { orders, clock }) =>
    reply(200, orders.close(action, orderId.read(params), keyOf(caller, clock)));
}

/** Returns the operations of orders. A hold lasts at least `holdSecondsMin`. */
export const createOrderOperations = (holdSecondsMin: number): readonly Operation[] => [
  defineOperation('listOrders', 'GET /orders', 'orders:read', {
    guide: 'orders',
    summary: 'List orders',
    description:
      'Returns a paginated list of the orders of the account, newest first. The scope `orders:manage` shows the orders of all accounts. A hold is expired from its `expiresAt` on. Follow the `Link` with `rel="next"` until there is none.',
    ...definePages('orders', {
      item: OrderSchema,
      filters: {
        status: Type.Optional({ ...OrderStatusSchema, examples: ['reserved'] }),
        petId: Type.Optional({ ...int64Field('Only orders for this animal.'), examples: [42] }),
        reference: Type.Optional(nameField('Only orders with this reference.', 'A-1017')),
      },
      cursor: 'BAAAAAAAAAAHrK1CcODeb8rGtA',
      examples: {
        page: example('Two orders', [{ ...completed, id: 8, petId: 43 }, reserved]),
        empty: example('No order', []),
      },
    }),

    async handle({ query, caller }, services) {
      const { status = null, petId = null, reference = null } = query;
      const filters = { status, petId, reference };
      const reader = orderReaderOf(caller);
      const of = reader.isManager ? 'all' : reader.accountId;
      const page = openPage({ path: '/orders', of, filters }, query, services);
      const wanted = { ...filters, limit: page.limit, newestId: page.start };
      const { items, next } = await services.orders.list(wanted, reader);
      return { status: 200, text: stringifyExactJson(items), headers: page.linkTo(next) };
    },
  }),

  definePlaceOrder(holdSecondsMin),

  defineOperation('getOrder', 'GET /orders/{orderId}', 'orders:read', {
    guide: 'orders',
    summary: 'Get an order',
    description:
      'Returns one order of the account, or of any account with the scope `orders:manage`. A hold is expired from its `expiresAt` on.',
    params: orderId,
    answers: answer(200, 'The requested order.', OrderSchema, {
      reserved: example('An open hold', reserved),
      completed: example('A sale', completed),
    }),

    handle: async ({ params, caller }, { orders }) =>
      reply(200, orders.get(orderId.read(params), orderReaderOf(caller))),
  }),

  defineOperation('completeOrder', 'POST /orders/{orderId}/complete', 'orders:write', {
    guide: 'orders',
    summary: 'Complete an order',
    isDrastic: true,
    description: `Sells the reserved animal, which becomes \`sold\`. An order cannot be completed after its \`expiresAt\`, so authorise the payment before this call and capture it after. Completing it ${unchanged}`,
    params: orderId,
    answers: answer(200, 'The animal is sold.', OrderSchema, { completed: example('The order', completed) }),
    failures: {
      order_closed: 'this order is cancelled: only a reserved order can be completed',
      order_expired: 'this order expired at 2026-11-24T12:15:00.000Z',
    },
    handle: closeBy('complete'),
  }),

  defineOperation('cancelOrder', 'POST /orders/{orderId}/cancel', 'orders:write', {
    guide: 'orders',
    summary: 'Cancel an order',
    isDrastic: true,
    description: `Cancels a hold; the animal is \`available\` again. Cancelling it ${unchanged}`,
    params: orderId,
    answers: answer(200, 'The hold is cancelled.', OrderSchema, {
      cancelled: example('The order', cancelled),
    }),
    failures: { order_closed: 'this order is completed: only a reserved order can be cancelled' },
    handle: closeBy('cancel'),
  }),

  defineOperation('returnOrder', 'POST /orders/{orderId}/return', 'orders:manage', {
    guide: 'orders',
    summary: 'Take an order back',
    isDrastic: true,
    description: `Records that a sold animal has come back. The animal is \`pending\` and has no order until staff change its status. Returning it ${unchanged}`,
    params: orderId,
    answers: answer(200, 'The animal has come back.', OrderSchema, {
      returned: example('The order', returned),
    }),
    failures: { order_closed: 'this order is returned: only a completed order can be returned' },
    handle: closeBy('return'),
  }),
];

function definePlaceOrder(holdSecondsMin: number): Operation {
  return defineOperation('placeOrder', 'POST /orders', 'orders:write', {
    guide: 'orders',
    summary: 'Place an order',
    description:
      'Reserves an available animal, which becomes `pending`, for `holdSeconds`, 900 by default. Complete the order before its `expiresAt`, or the animal becomes available again. If several orders for one animal arrive at once, exactly one succeeds. With an `Idempotency-Key` a retry never orders twice. The plan sets how many holds an account may have open.',
    body: createNewOrderSchema(holdSecondsMin),
    bodyExamples: {
      complete: example('All fields', { petId: 42, holdSeconds: 900, reference: 'A-1017' }),
      least: example('Required fields', { petId: 42 }),
    },
    isIdempotent: true,
    answers: answer(201, 'The animal is reserved.', OrderSchema, placed, ['Location', 'ETag']),
    failures: {
      not_found: notFound('petId', 'animal').message,
      pet_unavailable: petUnavailable().message,
      limit_reached: 'this account may open another hold only while it has fewer than 25',
    },

    async handle({ body, caller, idempotency }, { orders, baseUrl, clock }) {
      const { petId, holdSeconds: seconds = BigInt(holdSeconds.default), reference = null } = body;
      const key = keyOf(caller, clock);
      if (seconds > holdSeconds.max && !key.isManager) throw refuseHold(holdSecondsMin);
      const order = { petId, holdMs: Number(seconds) * secondMs, reference };
      return toOutcome(await orders.place(order, key, idempotency), baseUrl);
    },
  });
}

function refuseHold(holdSecondsMin: number): AppError {
  const rule = `must be an integer from ${holdSecondsMin} to ${holdSeconds.max}`;
  return new AppError('invalid_body', `holdSeconds ${rule}`);
}
