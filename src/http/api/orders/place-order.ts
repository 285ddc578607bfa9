import { secondMs } from '../../../clock.ts';
import { AppError } from '../../../errors.ts';
import { computeEtag } from '../../../etag.ts';
import { holdSeconds, NewOrderSchema, OrderSchema } from '../../../orders/order.ts';
import { defineOperation } from '../../operation.ts';
import { toOutcome } from '../first-answer.ts';
import { reserved } from './examples.ts';
import { readerOf } from './order-reader.ts';

/** `POST /orders`: reserves an animal (contract section 12). */
export const placeOrder = defineOperation({
  id: 'placeOrder',
  method: 'POST',
  path: '/orders',
  tag: 'orders',
  scope: 'orders:write',
  stability: 'beta',
  summary: 'Place an order',
  description:
    'Reserves an available animal, which becomes `pending`, for `holdSeconds`, 900 by default. Complete the order before its `expiresAt`, or the animal becomes available again. If several orders for one animal arrive at once, exactly one succeeds. With an `Idempotency-Key` a retry never orders twice. The plan sets how many holds an account may have open.',
  body: NewOrderSchema,
  bodyExamples: {
    least: { summary: 'Required fields', value: { petId: 42 } },
    complete: { summary: 'All fields', value: { petId: 42, holdSeconds: 900, reference: 'A-1017' } },
  },
  isIdempotent: true,
  answers: {
    201: {
      description: 'The animal is reserved.',
      body: OrderSchema,
      headers: ['Location', 'ETag'],
      examples: { reserved: { summary: 'The new order', value: reserved } },
    },
  },
  failures: ['not_found', 'pet_unavailable', 'limit_reached'],

  async handle({ body, caller, idempotency }, { orders, baseUrl }) {
    const { petId, holdSeconds: seconds = BigInt(holdSeconds.default), reference = null } = body;
    const reader = readerOf(caller);
    if (seconds > holdSeconds.max && !reader.isManager)
      throw new AppError(
        'invalid_body',
        `holdSeconds must be an integer from ${holdSeconds.min} to ${holdSeconds.max}`,
      );
    const order = { petId, holdMs: Number(seconds) * secondMs, reference };
    const given = await orders.place(order, reader, idempotency);
    const { headers, ...outcome } = toOutcome(given, baseUrl);
    return { ...outcome, headers: { ...headers, etag: computeEtag(given.answer.body) } };
  },
});
