import { sql } from 'kysely';
import { type Authored, addAuditEntry, eraseAuditNames } from '../audit/audit-log.ts';
import { minuteMs } from '../clock.ts';
import { AppError, OperatorError } from '../errors.ts';
import { eraseEventReferences } from '../events/erase-event-references.ts';
import { eraseFirstAnswers } from '../idempotency/answer-once.ts';
import { eraseCounts, insertReset } from '../limits/corrections.ts';
import { closeOrder } from '../orders/close-order.ts';
import { eraseReferences } from '../orders/order-rows.ts';
import { type Database, statement, step, transaction } from '../storage/database.ts';
import type { Erasure } from '../storage/erase.ts';
import { insertRow } from '../storage/insert-row.ts';
import { eraseRequests } from '../usage/request-rows.ts';
import { eraseUsage } from '../usage/usage.ts';
import { eraseUsageDays } from '../usage/usage-days.ts';
import { deleteWebhooks, eraseWebhooks } from '../webhooks/erase-webhooks.ts';
import { findAccount } from './account-changes.ts';
import { eraseKeyNames, revokeKeysOfAccount } from './key-rows.ts';

type Deletion = Authored & { readonly name: string; readonly keptMs: bigint | null };

/**
 * Deletes an account: blanks its name, revokes its keys, deletes its webhooks and begins its erasure. Throws
 * OperatorError if the account does not exist, or has an order that was completed within `keptMs` (null: no time).
 */
export const deleteAccount = transaction(
  'deleteAccount',
  'serializable',
  function* ({ name, keptMs, by }: Deletion) {
    const { id } = yield* findAccount(name);
    const [kept] = keptMs === null ? [] : yield* step(selectCompleted, { accountId: id, keptMs });
    if (kept?.closed_at_ms)
      throw new OperatorError(
        `the account "${name}" is kept: its order ${kept.id} was completed at ${new Date(Number(kept.closed_at_ms)).toISOString()}`,
      );
    const deletedName = `deleted-${id}`;
    const nowMs = BigInt(by.nowMs);
    yield* step(blankAccount, { id, name: deletedName, nowMs });
    const keys = yield* step(revokeKeysOfAccount, { accountId: id, nowMs });
    const webhooks = yield* step(deleteWebhooks, { accountId: id });
    yield* step(insertReset, { account_id: id, at_ms: nowMs });
    yield* step(insertErasure, { account_id: id });
    yield* addAuditEntry(by, 'account.deleted', deletedName, { accountId: id });
    return { id, keys: keys.length, webhooks: webhooks.length };
  },
);

const rowsMax = 500n;

/**
 * Erases the data of a deleted account, then cancels its holds, so that their last events have no reference. Returns the
 * number of cancelled holds. Can be repeated from the beginning.
 */
export async function eraseAccount(database: Database, accountId: bigint): Promise<number> {
  for (const erase of erasures) {
    let afterId = 0n;
    while (true) {
      const rows = await database.run(erase, { accountId, afterId, count: rowsMax });
      if (rows.length === 0) break;
      for (const { id } of rows) if (id > afterId) afterId = id;
    }
  }
  return await cancelHolds(database, accountId);
}

/** A hold that ends in this moment in another way does not count. */
async function cancelHolds(database: Database, accountId: bigint): Promise<number> {
  let holds = 0;
  while (true) {
    const rows = await database.read(selectHolds, { accountId, count: rowsMax });
    for (const { id } of rows)
      try {
        const closed = await database.transact(closeOrder, { action: 'cancel', id, accountId: null });
        if (!closed.isRepeated) holds += 1;
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'order_closed')) throw error;
      }
    if (rows.length < rowsMax) return holds;
  }
}

/**
 * Time in ms after a deletion for which the erasure is repeated. A write that had begun before the deletion may be
 * committed after it. Later acts find their key revoked, and later counts and requests are not written.
 */
const settlingMs = BigInt(minuteMs);

/** Erases the deleted accounts. Every instance runs this as a job, so a kill only delays an erasure. */
export async function eraseDeletedAccounts(database: Database): Promise<void> {
  for (const { account_id: accountId, is_settled } of await database.read(selectErasures, { settlingMs })) {
    await eraseAccount(database, accountId);
    if (is_settled === 1n) await database.run(deleteErasure, { accountId });
  }
}

const selectErasures = statement((query, p: { settlingMs: bigint }, { nowMs }) =>
  query
    .selectFrom('erasures')
    .innerJoin('accounts', 'accounts.id', 'erasures.account_id')
    .select('account_id')
    .select(
      sql<bigint>`cast(case when deleted_at_ms + ${p.settlingMs} < ${nowMs} then 1 else 0 end as bigint)`.as(
        'is_settled',
      ),
    ),
);

const insertErasure = insertRow('erasures', ['account_id']);

const deleteErasure = statement((query, p: { accountId: bigint }) =>
  query.deleteFrom('erasures').where('account_id', '=', p.accountId),
);

/** The plan and the limits stay, because they are no personal data. */
const blankAccount = statement((query, p: { id: bigint; name: string; nowMs: bigint }) =>
  query.updateTable('accounts').set({ name: p.name, deleted_at_ms: p.nowMs }).where('id', '=', p.id),
);

/** Selects the newest order of an account that was completed within the last `keptMs`. */
const selectCompleted = statement((query, p: { accountId: bigint; keptMs: bigint }, { nowMs }) =>
  query
    .selectFrom('orders')
    .select(['id', 'closed_at_ms'])
    .where('account_id', '=', p.accountId)
    .where('status', '=', sql.lit('completed'))
    .where('closed_at_ms', '>', sql<bigint>`${nowMs} - ${p.keptMs}`)
    .orderBy('id', 'desc')
    .limit(sql.lit(1)),
);

/** Selects holds of an account that have not expired. The job that expires holds closes the others. */
const selectHolds = statement((query, p: { accountId: bigint; count: bigint }, { nowMs }) =>
  query
    .selectFrom('orders')
    .select('id')
    .where('account_id', '=', p.accountId)
    .where('status', '=', sql.lit('reserved'))
    .where('expires_at_ms', '>', nowMs)
    .limit(p.count),
);

/**
 * The erasures of all rooms, in order. Each statement is repeated until it returns no row, with the highest id that it has
 * returned as `afterId`.
 */
export const erasures: readonly Erasure[] = [
  eraseKeyNames,
  ...eraseReferences,
  ...eraseEventReferences,
  eraseAuditNames,
  // The deletion does not see a webhook that is committed while it runs.
  eraseWebhooks,
  eraseRequests,
  eraseFirstAnswers,
  eraseUsage,
  eraseUsageDays,
  ...eraseCounts,
];
