import { sql } from 'kysely';
import type { OrderRow } from './order.ts';

/** The columns of an order that has just been written, as it stands in its row. */
export const writtenColumns = sql<OrderRow>`orders.id, orders.pet_id, orders.status, orders.reference,
  orders.created_at_ms, orders.expires_at_ms, orders.closed_at_ms,
  (select name from accounts where accounts.id = orders.account_id) as account`;

/** The time that a statement reads once, from its common table expression `moment`. */
export const moment = sql<bigint>`(select now_ms from moment)`;

/** Whether the hold of an order is over though its row does not say so yet. */
export const isOverdue = sql<boolean>`orders.closed_at_ms is null and orders.expires_at_ms <= ${moment}`;

/** The columns of an order as it is now: from its end on a hold is over, whoever has noticed. */
export const presentColumns = sql<OrderRow>`orders.id, orders.pet_id,
  case when ${isOverdue} then 'expired' else orders.status end as status, orders.reference,
  orders.created_at_ms, orders.expires_at_ms,
  case when ${isOverdue} then orders.expires_at_ms else orders.closed_at_ms end as closed_at_ms,
  (select name from accounts where accounts.id = orders.account_id) as account`;
