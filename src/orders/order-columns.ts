import { sql } from 'kysely';
import type { OrderRow } from './order.ts';

/** The columns of an `OrderRow` that a write returns. */
export const writtenColumns = sql<OrderRow>`orders.id, orders.pet_id, orders.status, orders.reference,
  orders.created_at_ms, orders.expires_at_ms, orders.closed_at_ms,
  (select name from accounts where accounts.id = orders.account_id) as account`;

/** The columns of the table. The status of an expired hold may still be `reserved`. */
export const storedColumns = sql<OrderRow>`id, account_id, pet_id, status, reference, created_at_ms, expires_at_ms,
  closed_at_ms`;

/** The time of the common table expression `moment`, which reads the store's clock once per statement. */
export const moment = sql<bigint>`(select now_ms from moment)`;

/** True if the hold has expired but is not closed yet. */
export const isOverdue = sql<boolean>`orders.closed_at_ms is null and orders.expires_at_ms <= ${moment}`;

/** The columns of an `OrderRow` in a read. A hold that has expired but is not closed yet has the status `expired`. */
export const presentColumns = sql<OrderRow>`orders.id, orders.pet_id,
  case when ${isOverdue} then 'expired' else orders.status end as status, orders.reference,
  orders.created_at_ms, orders.expires_at_ms,
  case when ${isOverdue} then orders.expires_at_ms else orders.closed_at_ms end as closed_at_ms,
  (select name from accounts where accounts.id = orders.account_id) as account`;
