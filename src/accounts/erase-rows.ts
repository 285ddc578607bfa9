import { sql } from 'kysely';
import { orderStatuses } from '../orders/order.ts';
import { type Statement, statement } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';

type Batch = { accountId: bigint; afterId: bigint; count: bigint };

/** The ids of the next rows of an account that a statement erases. */
function selectBatch(table: keyof Tables, { accountId, afterId, count }: Batch, condition = sql`true`) {
  return sql<bigint>`(select id from ${sql.table(table)}
    where account_id = ${accountId} and id > ${afterId} and ${condition} order by id limit ${count})`;
}

/** Removes the references of orders with one status, because the index of an account's orders leads with the status. */
const blankOrders = orderStatuses.map((status) =>
  statement<Batch>()((query, p) =>
    query
      .updateTable('orders')
      .set({ reference: sql`null` })
      .where('id', 'in', selectBatch('orders', p, sql`status = ${sql.lit(status)} and reference is not null`))
      .returning('id'),
  ),
);

/** Removes the references in events. The event itself and its position stay. */
const blankEvents = (['event_outbox', 'events'] as const).map((table) =>
  statement<Batch>()((query, p, { blankField }) =>
    query
      .updateTable(table)
      .set({ data: blankField('data', 'reference') })
      .where('id', 'in', selectBatch(table, p, sql`data like '%"reference":"%'`))
      .returning('id'),
  ),
);

/** Removes the names of the account and of its keys from the audit log. */
const blankAudit = statement<Batch>()((query, p, { blankField }) =>
  query
    .updateTable('audit')
    .set({
      subject: sql<string>`case when action like 'account.%' then 'deleted-' || account_id else subject end`,
      before: blankEntry(blankField, 'before'),
      after: blankEntry(blankField, 'after'),
    })
    .where('id', 'in', selectBatch('audit', p))
    .returning('id'),
);

function blankEntry(blankField: (column: string, field: string) => unknown, column: 'before' | 'after') {
  return sql<string | null>`case when action = 'account.renamed' then null
    when action like 'key.%' then ${blankField(column, 'name')} else ${sql.ref(column)} end`;
}

const deleteRequests = statement<Batch>()((query, p) =>
  query.deleteFrom('requests').where('id', 'in', selectBatch('requests', p)).returning('id'),
);

const deleteFirstAnswers = statement<Batch>()((query, p) =>
  query
    .deleteFrom('first_answers')
    .where('account_id', '=', p.accountId)
    .where('key_hash', 'in', ({ selectFrom }) =>
      selectFrom('first_answers').select('key_hash').where('account_id', '=', p.accountId).limit(p.count),
    )
    .returning('account_id as id'),
);

/** One row for each hour of a week. */
const deleteUsage = statement<Batch>()((query, p) =>
  query.deleteFrom('usage_hours').where('account_id', '=', p.accountId).returning('account_id as id'),
);

const deleteWindows = statement<Batch>()((query, p) =>
  query
    .deleteFrom('usage_windows')
    .where('subject', '=', sql<string>`'account:' || cast(${p.accountId} as bigint)`)
    .returning(sql<bigint>`cast(day_used as bigint)`.as('id')),
);

const deleteBans = statement<Batch>()((query, p) =>
  query
    .deleteFrom('key_bans')
    .where('key_id', 'in', ({ selectFrom }) =>
      selectFrom('api_keys').select('id').where('account_id', '=', p.accountId),
    )
    .returning('last_ban_ms as id'),
);

const blankKeys = statement<Batch>()((query, p) =>
  query
    .updateTable('api_keys')
    .set({ name: sql`null` })
    .where('account_id', '=', p.accountId)
    .where('name', 'is not', null)
    .returning(sql<bigint>`account_id`.as('id')),
);

/**
 * The statements that erase the data of an account. Each is repeated until it returns no row, and then gets the highest
 * id that it has returned as `afterId`.
 */
export const eraseSteps: readonly Statement<Batch, { readonly id: bigint }>[] = [
  blankKeys,
  ...blankOrders,
  ...blankEvents,
  blankAudit,
  deleteRequests,
  deleteFirstAnswers,
  deleteUsage,
  deleteWindows,
  deleteBans,
];
