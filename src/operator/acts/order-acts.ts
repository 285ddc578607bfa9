import type { Authorship } from '../../audit/audit-entry.ts';
import { addAuditEntry } from '../../audit/audit-log.ts';
import { type ClosedOrder, closeOrder, type OrderAction, transitions } from '../../orders/close-order.ts';
import { defineTransaction, type Steps, statement, step } from '../../storage/database.ts';

const selectOwner = statement<{ id: bigint }>()((query, p) =>
  query.selectFrom('orders').select('account_id').where('id', '=', p.id),
);

interface CloseByHand {
  readonly action: Exclude<OrderAction, 'complete'>;
  readonly id: bigint;
  readonly by: Authorship;
}

const actions = { cancel: 'order.cancelled', return: 'order.returned' } as const;

/**
 * Cancels or returns an order and adds an entry to the audit log, in one transaction. A repeated call adds no entry.
 * Throws the errors of `closeOrder`.
 */
export const closeOrderByHand = defineTransaction(
  'closeOrderByHand',
  function* ({ action, id, by }: CloseByHand): Steps<ClosedOrder> {
    const closed = yield* closeOrder.body({ action, id, accountId: null });
    if (closed.isRepeated) return closed;
    const [owner] = yield* step(selectOwner, { id });
    yield* addAuditEntry(by, {
      action: actions[action],
      subject: String(id),
      accountId: owner?.account_id ?? null,
      before: { status: transitions[action].from },
      after: { status: closed.row.status },
    });
    return closed;
  },
  'row locks',
);
