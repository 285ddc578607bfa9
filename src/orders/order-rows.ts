import { sql } from 'kysely';
import { statement } from '../storage/database.ts';
import type { OrderRow } from './order.ts';
import { presentColumns } from './order-columns.ts';

/** The order with an id, if there is one, of an account or of any account if `accountId` is null. */
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
