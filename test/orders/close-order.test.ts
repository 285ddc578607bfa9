import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requireDone } from '../../src/orders/close-order.ts';
import type { OrderStatus } from '../../src/orders/order.ts';

const expiresAt = '2027-01-02T03:04:05.678Z';
const times = { created_at_ms: 0n, expires_at_ms: BigInt(Date.parse(expiresAt)), closed_at_ms: null };

const ofReserved = (status: string, done: string) =>
  `this order is ${status}: only a reserved order can be ${done}`;
const ofCompleted = (status: string) => `this order is ${status}: only a completed order can be returned`;

describe('an action that the store did not allow', () => {
  // The message is null if the action has its effect already. An order that is reserved expires in this millisecond.
  for (const [action, status, message] of [
    ['complete', 'completed', null],
    ['cancel', 'cancelled', null],
    ['return', 'returned', null],
    ['complete', 'reserved', `this order expired at ${expiresAt}`],
    ['complete', 'expired', `this order expired at ${expiresAt}`],
    ['complete', 'cancelled', ofReserved('cancelled', 'completed')],
    ['complete', 'returned', ofReserved('returned', 'completed')],
    ['cancel', 'reserved', ofReserved('expired', 'cancelled')],
    ['cancel', 'expired', ofReserved('expired', 'cancelled')],
    ['cancel', 'completed', ofReserved('completed', 'cancelled')],
    ['return', 'reserved', ofCompleted('reserved')],
    ['return', 'expired', ofCompleted('expired')],
    ['return', 'completed', 'this order became completed only now: try again'],
  ] as const satisfies readonly (readonly [string, OrderStatus, string | null])[])
    test(`${action} is ${message === null ? 'done' : 'refused'} if the order is ${status}`, () => {
      const row = { id: 7n, pet_id: 1n, status, reference: null, account: null, ...times };
      if (message === null) assert.equal(requireDone(action, row), row);
      else {
        const code = message.includes('expired at') ? 'order_expired' : 'order_closed';
        assert.throws(() => requireDone(action, row), { code, message });
      }
    });

  test('is not found if there is no such order', () => {
    const message = 'orderId: there is no order with this identifier';
    assert.throws(() => requireDone('cancel', undefined), { code: 'not_found', message });
  });
});
