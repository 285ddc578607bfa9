import { sql } from 'kysely';

const owning = `status in ('reserved', 'completed')`;
const released = `status not in ('reserved', 'completed')`;

/**
 * With these indexes, a page of orders costs the same at any depth and with any combination of filters
 * (src/orders/order-page-rows.ts). A page without a status is merged from one page of each status.
 *
 * A new order enters these indexes:
 * - The first four.
 * - If it has a reference, also `orders_by_reference` and `orders_by_account_and_reference`.
 *
 * An order that releases its animal also enters the indexes whose names contain `pet`.
 */
export function indexOrders() {
  return [
    // At most one order owns an animal.
    sql.raw(`create unique index orders_owning on orders (pet_id) where ${owning}`),
    // Only a reserved order has no `closed_at_ms`.
    sql.raw('create index orders_by_expiry on orders (expires_at_ms, id) where closed_at_ms is null'),
    ...[
      'orders_by_status on orders (status, id)',
      'orders_by_account on orders (account_id, status, id)',
      'orders_by_reference on orders (reference, status, id) where reference is not null',
      `orders_by_account_and_reference on orders (account_id, reference, status, id)
        where reference is not null`,
      `orders_by_pet on orders (pet_id, status, id) where ${released}`,
      `orders_by_account_and_pet on orders (account_id, pet_id, status, id) where ${released}`,
      `orders_by_reference_and_pet on orders (reference, pet_id, status, id)
        where reference is not null and ${released}`,
      `orders_by_account_and_reference_and_pet on orders (account_id, reference, pet_id, status, id)
        where reference is not null and ${released}`,
    ].map((index) => sql.raw(`create index ${index}`)),
  ];
}
