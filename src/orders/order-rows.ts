import { type QueryCreator, type RawBuilder, sql } from 'kysely';
import { byFilters, statement } from '../storage/database.ts';
import type { Dialect } from '../storage/dialect.ts';
import { eraseNext } from '../storage/erase.ts';
import type { PageRange } from '../storage/read-page.ts';
import type { Tables } from '../storage/tables.ts';
import { type OrderRow, type OrderStatus, orderStatuses } from './order.ts';

/** The columns of an `OrderRow` that a write returns. */
export const writtenColumns = sql<OrderRow>`orders.id, orders.pet_id, orders.status, orders.reference,
  orders.created_at_ms, orders.expires_at_ms, orders.closed_at_ms,
  (select name from accounts where accounts.id = orders.account_id) as account`;

/** The time of the common table expression `moment`, which reads the store's clock once per statement. */
export const moment = sql<bigint>`(select now_ms from moment)`;

/** True if the hold has expired but is not closed yet. */
const isOverdue = sql<boolean>`orders.closed_at_ms is null and orders.expires_at_ms <= ${moment}`;

/** The columns of an `OrderRow` in a read. A hold that has expired but is not closed yet has the status `expired`. */
const presentColumns = sql<OrderRow>`orders.id, orders.pet_id,
  case when ${isOverdue} then 'expired' else orders.status end as status, orders.reference,
  orders.created_at_ms, orders.expires_at_ms,
  case when ${isOverdue} then orders.expires_at_ms else orders.closed_at_ms end as closed_at_ms,
  (select name from accounts where accounts.id = orders.account_id) as account`;

/** The columns of the table. The status of an expired hold may still be `reserved`. */
const storedColumns = sql`id, account_id, pet_id, status, reference, created_at_ms, expires_at_ms, closed_at_ms`;

/** True if an order belongs to the account. Null matches all accounts. */
export function isOf(accountId: bigint | null): RawBuilder<boolean> {
  return sql`(cast(${accountId} as bigint) is null or account_id = ${accountId})`;
}

/**
 * Returns the open holds of an account up to the id `newestId`, for a count that stops at a limit, and the order in which
 * both engines then read only as many rows of the index. Holds that have expired but are not closed yet are among them.
 */
export function selectHolds(
  query: QueryCreator<Tables>,
  { accountId, newestId }: { readonly accountId: bigint | null; readonly newestId: bigint },
  dialect: Dialect,
) {
  const key = [
    ['account_id', sql`${accountId}`],
    ['status', sql.lit('reserved')],
  ] as const;
  const { where, orderBy } = dialect.keyset(key, newestId);
  return query.selectFrom('orders').select('id').where(where).orderBy(orderBy);
}

/** Selects an order, and no row if it belongs to another account. A null `accountId` matches all accounts. */
export const selectOrder = statement((query, p: { id: bigint; accountId: bigint | null }, { nowMs }) =>
  query
    .with('moment', (cte) => cte.selectNoFrom(nowMs.as('now_ms')))
    .selectFrom('orders')
    .select(presentColumns as never)
    .where('id', '=', p.id)
    .where(isOf(p.accountId))
    .$castTo<OrderRow>(),
);

/** The filters of a page besides the status. SQLite chooses the index as intended if nobody runs `analyze`. */
export type OrderFilter = {
  readonly petId: bigint;
  readonly reference: string;
  readonly accountId: bigint;
};

type PageParameters = OrderFilter & PageRange;
type AreSet = Readonly<Record<keyof OrderFilter, boolean>>;

const declarePage = (wanted: OrderStatus | null) =>
  byFilters(['petId', 'reference', 'accountId'], (query, p: PageParameters, set, dialect) => {
    const filters = listFilters(set, p);
    const statuses = wanted === null ? orderStatuses : [wanted];
    const parts =
      wanted === null && filters.length === 0
        ? [sql`select ${storedColumns} from orders where id <= ${p.newestId}`]
        : statuses.map((status) => selectPart(query, filters, status, wanted, p, dialect));
    if (wanted === 'expired') parts.push(selectOverdue(filters, p));
    const found = sql<OrderRow>`(${sql.join(parts, sql` union all `)})`.as('orders');
    return query
      .with('moment', (cte) => cte.selectNoFrom(dialect.nowMs.as('now_ms')))
      .with('found', (cte) => cte.selectFrom(found).selectAll().orderBy('id', 'desc').limit(p.count))
      .selectFrom('found as orders')
      .select(presentColumns as never)
      .orderBy('id', 'desc')
      .$castTo<OrderRow>();
  });

const anyPage = declarePage(null);
const pagesOf = Object.fromEntries(orderStatuses.map((status) => [status, declarePage(status)]));

/**
 * Selects a page of the orders of a status or of all, newest first. Its cost depends neither on the depth nor on the
 * filters, but with `petId` and `reference`, it may read all orders of that animal. Without a filter, reads by id.
 * Otherwise merges a page of each status, because every index contains the status.
 */
export const selectOrders = (status: OrderStatus | null = null) => (status && pagesOf[status]) || anyPage;

/** The filters that are set. The plus in `isMet` keeps both engines from another index. */
function listFilters(set: AreSet, { petId, reference, accountId }: PageParameters) {
  return [
    set.accountId && {
      column: 'account_id',
      value: sql`${accountId}`,
      isMet: sql`+account_id = ${accountId}`,
    },
    set.petId && { column: 'pet_id', value: sql`${petId}`, isMet: sql`+pet_id = ${petId}` },
    set.reference && {
      column: 'reference',
      value: sql`${reference}`,
      isMet: sql`coalesce(reference, '') = ${reference}`,
    },
  ].filter((filter) => filter !== false);
}

type Filters = ReturnType<typeof listFilters>;

/**
 * Returns the filters whose columns lead the index of a status, in its order: the account, then the animal or else the
 * reference. An animal has at most one order of an owning status, so that index needs no account.
 */
function listLeading(filters: Filters, isOwning: boolean): Filters {
  const columns = filters.map(({ column }) => column);
  const skipped = columns.includes('pet_id') ? ['reference', isOwning && 'account_id'] : [];
  return filters.filter(({ column }) => !skipped.includes(column));
}

/** Before another column, the account stands in an index as an expression, which the index by account alone has not. */
function nameInIndex(column: string, { length }: Filters) {
  return column === 'account_id' && length > 1 ? sql`(account_id + 0)` : column;
}

/** The newest orders that are stored with a status. */
function selectPart(
  query: QueryCreator<Tables>,
  filters: Filters,
  status: OrderStatus,
  wanted: OrderStatus | null,
  p: PageParameters,
  { keyset }: Dialect,
) {
  const isOwning = status === 'reserved' || status === 'completed';
  const leading = listLeading(filters, isOwning);
  const key = leading.map(({ column, value }) => [nameInIndex(column, leading), value] as const);
  const { where, orderBy } = keyset([...key, ['status', sql.lit(status)]], p.newestId);
  const others = filters.filter((filter) => !leading.includes(filter));
  const conditions: RawBuilder<unknown>[] = [where, ...others.map(({ isMet }) => isMet)];
  // Each partial index is used only for its exact condition.
  const last = leading.at(-1)?.column;
  const not = sql.raw(isOwning ? '' : 'not');
  if (last === 'pet_id') conditions.push(sql`status ${not} in ('reserved', 'completed')`);
  if (last === 'reference') conditions.push(sql`reference is not null`);
  if (wanted === 'reserved') conditions.push(sql`expires_at_ms > ${moment}`);
  const page = query
    .selectFrom('orders')
    .select(storedColumns as never)
    .where(sql<boolean>`${sql.join(conditions, sql` and `)}`)
    .orderBy(orderBy)
    .limit(p.count);
  return sql`select * from ${page} as part`;
}

/** The expired holds that are not closed yet. There are few, because a job closes them. */
function selectOverdue(filters: Filters, p: PageParameters) {
  const conditions = [sql`closed_at_ms is null`, ...filters.map(({ isMet }) => isMet)];
  return sql`select ${storedColumns} from orders where ${sql.join(conditions, sql` and `)}
    and expires_at_ms >= 0 and expires_at_ms <= ${moment} and +id <= ${p.newestId}`;
}

/** One erasure for each status, because the index of an account's orders leads with the status. */
export const eraseReferences = orderStatuses.map((status) =>
  eraseNext(
    'orders',
    () => ({ reference: sql`null` }),
    sql`status = ${sql.lit(status)} and reference is not null`,
  ),
);
