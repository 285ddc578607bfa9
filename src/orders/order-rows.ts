import { sql } from 'kysely';
import { statement } from '../storage/database.ts';
import type { OrderRow } from './order.ts';
import { presentColumns } from './order-columns.ts';

/**
 * Selects an order. Returns no row if the order does not exist or belongs to another account. A null `accountId`
 * matches all accounts.
 */
export const selectOrder = statement<{ id: bigint; accountId: bigint | null }>()((query, p, { nowMs }) =>
  query
    .with('moment', (cte) => cte.selectNoFrom(nowMs.as('now_ms')))
    .with(
      'found',
      () => sql<OrderRow>`(select ${presentColumns} from orders where orders.id = ${p.id}
        and (cast(${p.accountId} as bigint) is null or orders.account_id = ${p.accountId}))`,
    )
    .selectFrom('found')
    .selectAll(),
);
