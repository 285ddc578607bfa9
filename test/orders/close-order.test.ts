import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OrderAction } from '../../src/orders/close-order.ts';
import { requireDone } from '../../src/orders/close-order.ts';
import type { OrderRow, OrderStatus } from '../../src/orders/order.ts';

const expiresAt = '2027-01-02T03:04:05.678Z';

/** Reads the order after an action that the store did not allow. `status` is the status at that moment. */
function readAfter(action: OrderAction, status: OrderStatus | null) {
  const row: OrderRow = {
    id: 7n,
    pet_id: 1n,
    status: String(status),
    reference: null,
    created_at_ms: 0n,
    expires_at_ms: BigInt(Date.parse(expiresAt)),
    closed_at_ms: null,
    account: null,
  };
  return requireDone(action, status === null ? undefined : row);
}

describe('an action that the store did not allow', () => {
  for (const [action, status] of [
    ['complete', 'completed'],
    ['cancel', 'cancelled'],
    ['return', 'returned'],
  ] as const)
    test(`${action} has its effect already if the order is ${status}`, () => {
      assert.equal(readAfter(action, status).status, status);
    });

  // A reserved order whose action was not allowed expires in this millisecond.
  for (const status of ['reserved', 'expired'] as const)
    test(`complete is too late if the order is ${status}`, () => {
      const message = `this order expired at ${expiresAt}`;
      assert.throws(() => readAfter('complete', status), { code: 'order_expired', message });
    });

  for (const [action, status, message] of [
    ['complete', 'cancelled', 'this order is cancelled: only a reserved order can be completed'],
    ['complete', 'returned', 'this order is returned: only a reserved order can be completed'],
    ['cancel', 'reserved', 'this order is expired: only a reserved order can be cancelled'],
    ['cancel', 'expired', 'this order is expired: only a reserved order can be cancelled'],
    ['cancel', 'completed', 'this order is completed: only a reserved order can be cancelled'],
    ['return', 'reserved', 'this order is reserved: only a completed order can be returned'],
    ['return', 'expired', 'this order is expired: only a completed order can be returned'],
    ['return', 'completed', 'this order became completed only now: try again'],
  ] as const)
    test(`${action} is refused if the order is ${status}`, () => {
      assert.throws(() => readAfter(action, status), { code: 'order_closed', message });
    });

  test('is not found if there is no such order', () => {
    const message = 'orderId: there is no order with this identifier';
    assert.throws(() => readAfter('cancel', null), { code: 'not_found', message });
  });
});
