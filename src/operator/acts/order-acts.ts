import type { Authorship } from '../../audit/audit-entry.ts';
import { addAuditEntry } from '../../audit/audit-log.ts';
import { closeBySteps } from '../../orders/close-order.ts';
import { closeInOneStatement, type OrderAction, transitions } from '../../orders/close-order-rows.ts';
import type { OrderRow } from '../../orders/order.ts';
import { type Dialect, defineTransaction, type Steps, statement, step } from '../../storage/database.ts';

const selectOwner = statement<{ id: bigint }>()((query, p) =>
  query.selectFrom('orders').select('account_id').where('id', '=', p.id),
);

interface CloseByHand {
  readonly action: Exclude<OrderAction, 'complete'>;
  readonly id: bigint;
  readonly engine: Dialect['engine'];
  readonly by: Authorship;
}

const actions = { cancel: 'order.cancelled', return: 'order.returned' } as const;

/**
 * Cancels or returns an order and adds an entry to the audit log, in one transaction. Returns null, with nothing
 * changed, if no order with this id is in the status that the action requires.
 */
export const closeOrderByHand = defineTransaction(
  'closeOrderByHand',
  function* ({ action, id, engine, by }: CloseByHand): Steps<OrderRow | null> {
    const row = yield* close(action, id, engine);
    if (row === null) return null;
    const [owner] = yield* step(selectOwner, { id });
    yield* addAuditEntry(by, {
      action: actions[action],
      subject: String(id),
      accountId: owner?.account_id ?? null,
      before: { status: transitions[action].from },
      after: { status: row.status },
    });
    return row;
  },
  'row locks',
);

function* close(action: OrderAction, id: bigint, engine: Dialect['engine']): Steps<OrderRow | null> {
  if (engine === 'sqlite') return yield* closeBySteps.body({ action, id, accountId: null });
  const [row] = yield* step(closeInOneStatement[action], { id, accountId: null });
  return row ?? null;
}
