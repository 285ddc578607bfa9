import { type RawBuilder, sql } from 'kysely';
import { type Dialect, type Statement, statement } from '../storage/database.ts';
import { type OrderRow, type OrderStatus, orderStatuses } from './order.ts';
import { moment, presentColumns, storedColumns } from './order-columns.ts';
import { type OrderRange, selectRange } from './order-range.ts';

/** The filters of a page of orders. Null means no filter. */
export interface OrderFilter {
  readonly status: OrderStatus | null;
  readonly petId: bigint | null;
  readonly reference: string | null;
  readonly accountId: bigint | null;
}

/** The parameters of a page. The statement has no condition for a filter that is null. */
export type PageParameters = {
  newestId: bigint;
  count: bigint;
  petId: bigint | null;
  reference: string | null;
  accountId: bigint | null;
};

const pages = new Map<string, Statement<PageParameters, OrderRow>>();

/** Returns the statement for a page of orders, newest first. Each combination of filters has its own statement. */
export function selectOrders(filter: OrderFilter): Statement<PageParameters, OrderRow> {
  const { status, petId, reference, accountId } = filter;
  const name = [status, petId !== null, reference !== null, accountId !== null].join();
  const known = pages.get(name);
  if (known !== undefined) return known;
  const made = buildPage(filter);
  pages.set(name, made);
  return made;
}

/**
 * Builds a union of parts, each of which reads one index (migrations/0002/order-indexes.ts). The page is the newest
 * orders of the union.
 */
function buildPage(filter: OrderFilter): Statement<PageParameters, OrderRow> {
  return statement<PageParameters>()((query, p, { nowMs, engine }) =>
    query
      .with('moment', (cte) => cte.selectNoFrom(nowMs.as('now_ms')))
      // Materialized, so that this part always uses the index `orders_by_expiry`.
      .with(
        (cte) => cte('overdue').materialized(),
        () => sql<OrderRow>`(select ${storedColumns} from orders ${sql.raw(byExpiry[engine])}
          where closed_at_ms is null and expires_at_ms >= 0 and expires_at_ms <= ${moment})`,
      )
      .with(
        'found',
        () => sql<OrderRow>`(${sql.join(listParts(filter, p, engine), sql` union all `)}
          order by id desc limit ${p.count} + 0)`,
      )
      .selectFrom('found as orders')
      .select(presentColumns as never)
      .orderBy('id', 'desc')
      .$castTo<OrderRow>(),
  );
}

const byExpiry = { sqlite: 'indexed by orders_by_expiry', postgres: '' } as const;

function listParts(filter: OrderFilter, p: PageParameters, engine: Dialect['engine']): RawBuilder<unknown>[] {
  const { status, petId, reference, accountId } = filter;
  if (status === null && petId === null && reference === null && accountId === null)
    return [sql`select ${storedColumns} from orders where id <= ${p.newestId}`];
  const statuses = status === null ? orderStatuses : [status];
  const isOwning = (one: OrderStatus) => one === 'reserved' || one === 'completed';
  const ranges = statuses
    .filter((one) => petId === null || !isOwning(one))
    .map((one) => selectRange(storedColumns, toRange(filter, p, one), engine))
    .map((range) => (engine === 'sqlite' ? range : sql`select * from ${range} as range`));
  const owners = petId !== null && statuses.some(isOwning) ? [selectOwner(filter, p, engine)] : [];
  const overdue = status === 'expired' ? [selectOverdue(filter, p)] : [];
  return [...ranges, ...owners, ...overdue];
}

/** Excludes expired holds, which do not count as reserved. */
const isOpen = sql`expires_at_ms > ${moment}`;

function toRange(filter: OrderFilter, p: PageParameters, status: OrderStatus): OrderRange {
  const { petId, reference, accountId } = filter;
  const given = [
    ...(accountId === null ? [] : [['account', 'account_id', sql`${p.accountId}`] as const]),
    ...(reference === null ? [] : [['reference', 'reference', sql`${p.reference}`] as const]),
    ...(petId === null ? [] : [['pet', 'pet_id', sql`${p.petId}`] as const]),
  ];
  return {
    index: `orders_by_${given.length === 0 ? 'status' : given.map(([name]) => name).join('_and_')}`,
    key: [...given.map(([, column, value]) => [column, value] as const), ['status', sql.lit(status)]],
    newestId: sql`${p.newestId}`,
    conditions: [
      ...(reference === null ? [] : [sql`reference is not null`]),
      ...(petId === null ? [] : [sql`status not in ('reserved', 'completed')`]),
      ...(filter.status === 'reserved' ? [isOpen] : []),
    ],
    count: sql`${p.count} + 0`,
  };
}

/** Selects the order that owns the animal if this order matches the filters. */
function selectOwner(filter: OrderFilter, p: PageParameters, engine: Dialect['engine']): RawBuilder<unknown> {
  const index = engine === 'sqlite' ? sql`indexed by orders_owning` : sql``;
  const owner = sql`(select ${storedColumns} from orders ${index}
    where pet_id = ${p.petId} and status in ('reserved', 'completed') limit 1) as owner`;
  const { status } = filter;
  const conditions = [
    ...listConditions({ ...filter, petId: null }, p),
    ...(status === null ? [] : [sql`status = ${sql.lit(status)}`]),
    ...(status === 'reserved' ? [isOpen] : []),
  ];
  return sql`select * from ${owner} where ${sql.join(conditions, sql` and `)}`;
}

/**
 * Selects the expired holds that are not closed yet and match the filters. There are few, because a job closes expired
 * holds.
 */
function selectOverdue(filter: OrderFilter, p: PageParameters): RawBuilder<unknown> {
  return sql`select * from overdue where ${sql.join(listConditions(filter, p), sql` and `)}`;
}

function listConditions({ petId, reference, accountId }: OrderFilter, p: PageParameters) {
  return [
    sql`id <= ${p.newestId}`,
    ...(accountId === null ? [] : [sql`account_id = ${p.accountId}`]),
    ...(petId === null ? [] : [sql`pet_id = ${p.petId}`]),
    ...(reference === null ? [] : [sql`reference = ${p.reference}`]),
  ];
}
