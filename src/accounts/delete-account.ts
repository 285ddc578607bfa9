import { type RawBuilder, sql } from 'kysely';
import { type Authored, addAuditEntry } from '../audit/audit-log.ts';
import { minuteMs } from '../clock.ts';
import { AppError, OperatorError } from '../errors.ts';
import { insertReset } from '../limits/corrections.ts';
import { closeOrder } from '../orders/close-order.ts';
import { orderStatuses } from '../orders/order.ts';
import { type Database, statement, step, transaction } from '../storage/database.ts';
import type { ByEngine, Dialect } from '../storage/dialect.ts';
import { insertRow } from '../storage/insert-row.ts';
import type { Tables } from '../storage/tables.ts';
import { findAccount } from './account-changes.ts';
import { revokeKeys } from './key-rows.ts';

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
    const keys = yield* step(revokeKeys, { id: null, accountId: id, nowMs });
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
  for (const erase of eraseSteps) {
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

const deleteWebhooks = statement((query, p: { accountId: bigint }) =>
  query.deleteFrom('webhooks').where('account_id', '=', p.accountId).returning('id'),
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

type Batch = { accountId: bigint; afterId: bigint; count: bigint };
type Condition = (batch: Batch) => RawBuilder<boolean>;
type Blanks = (dialect: Dialect) => Readonly<Record<string, RawBuilder<unknown>>>;

/** Declares a statement that blanks the rows of a condition, or deletes them without `blanks`. */
function erase(table: keyof Tables, condition: Condition, blanks?: Blanks, id = sql<bigint>`0`) {
  return statement((query, p: Batch, dialect) => {
    const [rows, erased] = [condition(p), id.as('id')];
    if (blanks === undefined) return query.deleteFrom(table).where(rows).returning(erased);
    const values = blanks(dialect) as never;
    return query.updateTable(table).set(values).where(rows).returning(erased);
  });
}

/** Declares a statement that erases the next rows of an account in a table with ids. */
function eraseNext(table: keyof Tables, blanks?: Blanks, condition = sql`true`) {
  const next: Condition = ({ accountId, afterId, count }) => sql`id in (select id from ${sql.table(table)}
    where account_id = ${accountId} and id > ${afterId} and ${condition} order by id limit ${count})`;
  return erase(table, next, blanks, sql`id`);
}

/** Each statement is repeated until it returns no row, with the highest id that it has returned as `afterId`. */
const eraseSteps = [
  erase(
    'api_keys',
    (p) => sql`account_id = ${p.accountId} and name is not null`,
    () => ({ name: sql`null` }),
  ),
  // One step for each status, because the index of an account's orders leads with the status.
  ...orderStatuses.map((status) =>
    eraseNext(
      'orders',
      () => ({ reference: sql`null` }),
      sql`status = ${sql.lit(status)} and reference is not null`,
    ),
  ),
  // The events and their positions stay.
  ...(['event_outbox', 'events'] as const).map((table) =>
    eraseNext(
      table,
      ({ engine }) => ({ data: blankField[engine]('data', 'reference') }),
      sql`data like '%"reference":"%'`,
    ),
  ),
  eraseNext('audit', (dialect) => ({
    subject: sql`case when action like 'account.%' then 'deleted-' || account_id else subject end`,
    before: blankNames(dialect, 'before'),
    after: blankNames(dialect, 'after'),
  })),
  // The deletion does not see a webhook that is committed while it runs.
  eraseNext('webhooks'),
  eraseNext('requests'),
  erase(
    'first_answers',
    (p) => sql`account_id = ${p.accountId}
      and key_hash in (select key_hash from first_answers where account_id = ${p.accountId} limit ${p.count})`,
  ),
  erase('usage_hours', (p) => sql`account_id = ${p.accountId}`),
  erase('usage_windows', (p) => sql`subject = 'account:' || cast(${p.accountId} as bigint)`),
  erase('key_bans', (p) => sql`key_id in (select id from api_keys where account_id = ${p.accountId})`),
];

/** Removes the names of the account and of its keys from a column of the audit log. */
function blankNames({ engine }: Dialect, column: 'before' | 'after') {
  return sql`case when action = 'account.renamed' then null
    when action like 'key.%' then ${blankField[engine](column, 'name')} else ${sql.ref(column)} end`;
}

/** The JSON object of a text column with null in place of one of its fields. */
const blankField: ByEngine<(column: string, field: string) => RawBuilder<string>> = {
  sqlite: (column, field) => sql`json_set(${sql.ref(column)}, ${sql.lit(`$.${field}`)}, null)`,
  postgres: (column, field) =>
    sql`cast(jsonb_set(cast(${sql.ref(column)} as jsonb), ${sql.lit(`{${field}}`)}, 'null') as text)`,
};
