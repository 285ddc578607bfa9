import { type RawBuilder, sql } from 'kysely';
import { orderStatuses } from '../orders/order.ts';
import { type Dialect, type Statement, statement } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';

type Batch = { accountId: bigint; afterId: bigint; count: bigint };
type Condition = (batch: Batch) => RawBuilder<boolean>;
/** The new values of some columns. */
type Blanks = (dialect: Dialect) => Readonly<Record<string, RawBuilder<unknown>>>;

/** Declares a statement that blanks the rows of a condition, or deletes them without `blanks`. */
function erase(table: keyof Tables, condition: Condition, blanks?: Blanks, id = sql<bigint>`0`) {
  return statement<Batch>()((query, p, dialect) => {
    const rows = condition(p);
    if (blanks === undefined) return query.deleteFrom(table).where(rows).returning(id.as('id'));
    return query
      .updateTable(table)
      .set(blanks(dialect) as never)
      .where(rows)
      .returning(id.as('id'));
  });
}

/** Declares a statement that erases the next rows of an account in a table with ids. */
function eraseNext(table: keyof Tables, blanks?: Blanks, condition = sql`true`) {
  const next: Condition = ({ accountId, afterId, count }) => sql`id in (select id from ${sql.table(table)}
    where account_id = ${accountId} and id > ${afterId} and ${condition} order by id limit ${count})`;
  return erase(table, next, blanks, sql`id`);
}

/**
 * The statements that erase the data of an account. Each is repeated until it returns no row, and then gets the highest
 * id that it has returned as `afterId`.
 */
export const eraseSteps: readonly Statement<Batch, { readonly id: bigint }>[] = [
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
      ({ blankField }) => ({ data: blankField('data', 'reference') }),
      sql`data like '%"reference":"%'`,
    ),
  ),
  eraseNext('audit', (dialect) => ({
    subject: sql`case when action like 'account.%' then 'deleted-' || account_id else subject end`,
    before: blankNames(dialect, 'before'),
    after: blankNames(dialect, 'after'),
  })),
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
function blankNames({ blankField }: Dialect, column: 'before' | 'after') {
  return sql`case when action = 'account.renamed' then null
    when action like 'key.%' then ${blankField(column, 'name')} else ${sql.ref(column)} end`;
}
