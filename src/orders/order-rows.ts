import { type RawBuilder, sql } from 'kysely';
import { byShape, type Database, type Dialect, statement } from '../storage/database.ts';
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
 * Selects an order. Returns no row if the order does not exist or belongs to another account. A null `accountId`
 * matches all accounts.
 */
export const selectOrder = statement<{ id: bigint; accountId: bigint | null }>()((query, p, { nowMs }) =>
  query
    .with('moment', (cte) => cte.selectNoFrom(nowMs.as('now_ms')))
    .selectFrom('orders')
    .select(presentColumns as never)
    .where('id', '=', p.id)
    .where(isOf(p.accountId))
    .$castTo<OrderRow>(),
);

/** The filters of a page of orders. Null means no filter. SQLite chooses the index as intended if nobody runs `analyze`. */
export interface OrderFilter {
  readonly status: OrderStatus | null;
  readonly petId: bigint | null;
  readonly reference: string | null;
  readonly accountId: bigint | null;
}

/** The parameters of a page. The statement has no condition for a filter that is null. */
type PageParameters = {
  newestId: bigint;
  count: bigint;
  petId: bigint | null;
  reference: string | null;
  accountId: bigint | null;
};

type Shape = {
  readonly status: OrderStatus | null;
  /** The filter that leads the index: the rarest one. */
  readonly lead: 'pet_id' | 'reference' | 'account_id' | null;
  readonly hasReference: boolean;
  readonly hasAccount: boolean;
};

/**
 * Returns the statement for a page of orders, newest first. Each combination of filters has its own statement. With
 * `petId` or `reference`, it may read all orders of that animal or that reference; without them, a page costs the same
 * at any depth.
 */
export function selectOrders({ status, petId, reference, accountId }: OrderFilter) {
  const hasReference = reference !== null;
  const hasAccount = accountId !== null;
  const ofNoAnimal = hasReference ? 'reference' : hasAccount ? 'account_id' : null;
  return selectPage({ status, lead: petId === null ? ofNoAnimal : 'pet_id', hasReference, hasAccount });
}

/** Without a filter, reads by id. Otherwise merges a page of each status, because every index contains the status. */
const selectPage = byShape((shape: Shape) =>
  statement<PageParameters>()((query, p, dialect) => {
    const statuses = shape.status === null ? orderStatuses : [shape.status];
    const parts =
      shape.status === null && shape.lead === null
        ? [sql`select ${storedColumns} from orders where id <= ${p.newestId}`]
        : statuses.map((one) => selectPart(shape, one, p, dialect));
    if (shape.status === 'expired') parts.push(selectOverdue(shape, p));
    return query
      .with('moment', (cte) => cte.selectNoFrom(dialect.nowMs.as('now_ms')))
      .with(
        'found',
        () => sql<OrderRow>`(${sql.join(parts, sql` union all `)} order by id desc limit ${p.count})`,
      )
      .selectFrom('found as orders')
      .select(presentColumns as never)
      .orderBy('id', 'desc')
      .$castTo<OrderRow>();
  }),
);

/** The newest orders that are stored with a status. */
function selectPart(shape: Shape, status: OrderStatus, p: PageParameters, { keyset }: Dialect) {
  const { lead } = shape;
  const isOwning = status === 'reserved' || status === 'completed';
  const values = { pet_id: p.petId, reference: p.reference, account_id: p.accountId };
  const leading = lead === null ? [] : [[lead, sql`${values[lead]}`] as const];
  const { where, orderBy } = keyset([...leading, ['status', sql.lit(status)]], p.newestId);
  const conditions = [where, ...listFilters(shape, p, lead)];
  // Each partial index is used only for its exact condition.
  if (lead === 'pet_id')
    conditions.push(sql`status ${sql.raw(isOwning ? '' : 'not')} in ('reserved', 'completed')`);
  if (lead === 'reference') conditions.push(sql`reference is not null`);
  if (shape.status === 'reserved') conditions.push(sql`expires_at_ms > ${moment}`);
  return sql`select * from (select ${storedColumns} from orders where ${sql.join(conditions, sql` and `)}
    order by ${orderBy} limit ${p.count}) as part`;
}

/** The expired holds that are not closed yet. There are few, because a job closes them. */
function selectOverdue(shape: Shape, p: PageParameters) {
  const conditions = [sql`closed_at_ms is null`, ...listFilters(shape, p, null)];
  return sql`select ${storedColumns} from orders where ${sql.join(conditions, sql` and `)}
    and expires_at_ms >= 0 and expires_at_ms <= ${moment} and +id <= ${p.newestId}`;
}

/** The filters beside that of the index. The plus keeps both engines from using another index for them. */
function listFilters(shape: Shape, p: PageParameters, ofIndex: Shape['lead']): RawBuilder<unknown>[] {
  const filters = [
    ['pet_id', shape.lead === 'pet_id', sql`+pet_id = ${p.petId}`],
    ['reference', shape.hasReference, sql`coalesce(reference, '') = ${p.reference}`],
    ['account_id', shape.hasAccount, sql`+account_id = ${p.accountId}`],
  ] as const;
  return filters.flatMap(([column, isSet, condition]) => (isSet && column !== ofIndex ? [condition] : []));
}

const selectNow = statement<Record<never, never>>()((query, _, { nowMs }) =>
  query.selectNoFrom(nowMs.as('now_ms')),
);

/** Returns the time of the store's clock in Unix milliseconds. This clock decides when holds expire. */
export async function readOrderTime(database: Database): Promise<number> {
  const [row] = await database.read(selectNow, {});
  if (row === undefined) throw new Error('the store gave no time');
  return Number(row.now_ms);
}
