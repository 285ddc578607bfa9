import { sql } from 'kysely';
import type { OrderRow } from './order.ts';

/** The columns of an order that was just written. */
export const writtenColumns = sql<OrderRow>`orders.id, orders.pet_id, orders.status, orders.reference,
  orders.created_at_ms, orders.expires_at_ms, orders.closed_at_ms,
  (select name from accounts where accounts.id = orders.account_id) as account`;

/** The stored columns of an order, including the id of its account. */
export const storedColumns = sql<OrderRow>`id, account_id, pet_id, status, reference, created_at_ms, expires_at_ms,
  closed_at_ms`;

/** The time that a statement reads once, in its common table expression `moment`. */
export const moment = sql<bigint>`(select now_ms from moment)`;

/** Whether the hold of an order has expired but its row still shows it as open. */
export const isOverdue = sql<boolean>`orders.closed_at_ms is null and orders.expires_at_ms <= ${moment}`;

/** The current columns of an order. A hold is expired from its end on, even if its row does not show it yet. */
export const presentColumns = sql<OrderRow>`orders.id, orders.pet_id,
  case when ${isOverdue} then 'expired' else orders.status end as status, orders.reference,
  orders.created_at_ms, orders.expires_at_ms,
  case when ${isOverdue} then orders.expires_at_ms else orders.closed_at_ms end as closed_at_ms,
  (select name from accounts where accounts.id = orders.account_id) as account`;
