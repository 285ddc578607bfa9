import { type RawBuilder, sql } from 'kysely';
import { type Database, type Dialect, type Statement, statement } from '../storage/database.ts';
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
    .where(sql<boolean>`(cast(${p.accountId} as bigint) is null or account_id = ${p.accountId})`)
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

const pages = new Map<string, Statement<PageParameters, OrderRow>>();

/**
 * Returns the statement for a page of orders, newest first. Each combination of filters has its own statement. With
 * `petId` or `reference`, it may read all orders of that animal or that reference; without them, a page costs the same
 * at any depth.
 */
export function selectOrders(filter: OrderFilter): Statement<PageParameters, OrderRow> {
  const { status, petId, reference, accountId } = filter;
  const name = [status, petId !== null, reference !== null, accountId !== null].join();
  const known = pages.get(name) ?? buildPage(filter);
  pages.set(name, known);
  return known;
}

/** Without a filter, reads by id. Otherwise merges a page of each status, because every index contains the status. */
function buildPage(filter: OrderFilter): Statement<PageParameters, OrderRow> {
  const { status } = filter;
  const isFiltered = Object.values(filter).some((value) => value !== null);
  return statement<PageParameters>()((query, p, dialect) => {
    const statuses = status === null ? orderStatuses : [status];
    const parts = isFiltered
      ? statuses.map((one) => selectPart(filter, one, p, dialect))
      : [sql`select ${storedColumns} from orders where id <= ${p.newestId}`];
    if (status === 'expired') parts.push(selectOverdue(filter, p));
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
  });
}

/**
 * The newest orders that are stored with a status. The rarest filter leads the index: the animal, then the reference,
 * then the account.
 */
function selectPart(filter: OrderFilter, status: OrderStatus, p: PageParameters, { keyset }: Dialect) {
  const { petId, reference, accountId } = filter;
  const isOwning = status === 'reserved' || status === 'completed';
  const statusKey = ['status', sql.lit(status)] as const;
  const leading =
    petId !== null
      ? (['pet_id', sql`${p.petId}`] as const)
      : reference !== null
        ? (['reference', sql`${p.reference}`] as const)
        : accountId !== null
          ? (['account_id', sql`${p.accountId}`] as const)
          : null;
  const { where, orderBy } = keyset(leading === null ? [statusKey] : [leading, statusKey], p.newestId);
  const conditions: RawBuilder<unknown>[] = [where, ...listOthers(filter, p)];
  // Each partial index is used only for its exact condition.
  if (petId !== null)
    conditions.push(sql`status ${isOwning ? sql`` : sql`not`} in ('reserved', 'completed')`);
  if (petId === null && reference !== null) conditions.push(sql`reference is not null`);
  if (filter.status === 'reserved') conditions.push(sql`expires_at_ms > ${moment}`);
  return sql`select * from (select ${storedColumns} from orders where ${sql.join(conditions, sql` and `)}
    order by ${orderBy} limit ${p.count}) as part`;
}

/** The filters that do not lead the index. The plus keeps both engines from using another index for them. */
function listOthers({ petId, reference, accountId }: OrderFilter, p: PageParameters): RawBuilder<unknown>[] {
  const leads = petId !== null ? 'pet' : reference !== null ? 'reference' : 'account';
  return [
    ...(reference !== null && leads !== 'reference' ? [sql`coalesce(reference, '') = ${p.reference}`] : []),
    ...(accountId !== null && leads !== 'account' ? [sql`+account_id = ${p.accountId}`] : []),
  ];
}

/** The expired holds that are not closed yet. There are few, because a job closes them. */
function selectOverdue({ petId, reference, accountId }: OrderFilter, p: PageParameters) {
  const conditions = [
    ...(petId === null ? [] : [sql`+pet_id = ${p.petId}`]),
    ...(reference === null ? [] : [sql`coalesce(reference, '') = ${p.reference}`]),
    ...(accountId === null ? [] : [sql`+account_id = ${p.accountId}`]),
  ];
  return sql`select ${storedColumns} from orders where closed_at_ms is null
    and expires_at_ms >= 0 and expires_at_ms <= ${moment} and +id <= ${p.newestId}
    ${sql.join(
      conditions.map((condition) => sql`and ${condition}`),
      sql` `,
    )}`;
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
