import { type RawBuilder, sql } from 'kysely';
import { type Statement, statement } from '../storage/database.ts';
import type { OrderRow, OrderStatus } from './order.ts';
import { isOverdue, moment, presentColumns } from './order-columns.ts';

/** An order by its id, in one row or none; of an account, or of any where `accountId` is null. */
export const selectOrder = statement<{ id: bigint; accountId: bigint | null }>()((query, p, { nowMs }) =>
  query
    .with('moment', (cte) => cte.selectNoFrom(nowMs.as('now_ms')))
    .with(
      'found',
      () => sql<OrderRow>`(select ${presentColumns} from orders where orders.id = ${p.id}
        and (cast(${p.accountId} as bigint) is null or orders.account_id = ${p.accountId}))`,
    )
    .selectFrom('found')
    .selectAll(),
);

/** Which orders a page holds. */
export interface OrderFilter {
  readonly status: OrderStatus | null;
  readonly petId: bigint | null;
  readonly reference: string | null;
  /** Only those of one account; null stands for all. */
  readonly accountId: bigint | null;
}

/** What a page is asked for with; a filter that is null is not in the statement. */
export type PageParameters = {
  newestId: bigint;
  count: bigint;
  petId: bigint | null;
  reference: string | null;
  accountId: bigint | null;
};

const pages = new Map<string, Statement<PageParameters, OrderRow>>();

/** The statement of a page of orders, newest first: one for each combination of filters. */
export function selectOrders(filter: OrderFilter): Statement<PageParameters, OrderRow> {
  const { status, petId, reference, accountId } = filter;
  const name = [status, petId !== null, reference !== null, accountId !== null].join();
  const known = pages.get(name);
  if (known !== undefined) return known;
  const made = buildPage(filter);
  pages.set(name, made);
  return made;
}

function buildPage(filter: OrderFilter): Statement<PageParameters, OrderRow> {
  return statement<PageParameters>()((query, p, { nowMs }) =>
    query
      .with('moment', (cte) => cte.selectNoFrom(nowMs.as('now_ms')))
      .with('found', () => sql<OrderRow>`(${listParts(filter, p)} order by id desc limit ${p.count} + 0)`)
      .selectFrom('found')
      .selectAll()
      .orderBy('id', 'desc'),
  );
}

/** Expired are those whose rows say so, and those whose rows do not yet: each along an index of its own. */
function listParts(filter: OrderFilter, p: PageParameters): RawBuilder<unknown> {
  const { status } = filter;
  if (status !== 'expired') return selectPart(filter, p, status === null ? null : isStatus(status));
  const closed = sql`select * from (${selectPart(filter, p, isStatus(status))}
    order by id desc limit ${p.count} + 0) as closed`;
  // Materialised, as SQLite would else walk all orders for the sake of their order.
  const overdue = selectPart({ ...filter, status: null }, p, isOverdue, '+');
  return sql`with overdue as materialized (${overdue}) ${closed} union all select * from overdue`;
}

function isStatus(status: OrderStatus): RawBuilder<unknown> {
  const is = sql`orders.status = ${sql.lit(status)}`;
  return status === 'reserved' ? sql`${is} and orders.expires_at_ms > ${moment}` : is;
}

/**
 * A plus before a column keeps an engine from walking an index of it: the narrowest filter decides along which index a
 * page is found, and the others are asked for on the way.
 */
function selectPart(
  { petId, reference, accountId, status }: OrderFilter,
  p: PageParameters,
  condition: RawBuilder<unknown> | null,
  ofId: '' | '+' = '',
): RawBuilder<unknown> {
  const isNarrow = petId !== null || reference !== null;
  const ofAccount = isNarrow || (ofId === '+' && status === null) ? '+' : '';
  const ofPet = reference !== null ? '+' : '';
  const conditions = [
    sql`${sql.raw(isNarrow ? '' : ofId)}orders.id <= ${p.newestId}`,
    ...(condition === null ? [] : [condition]),
    ...(accountId === null ? [] : [sql`${sql.raw(ofAccount)}orders.account_id = ${p.accountId}`]),
    ...(petId === null ? [] : [sql`${sql.raw(ofPet)}orders.pet_id = ${p.petId}`]),
    ...(reference === null ? [] : [sql`orders.reference = ${p.reference}`]),
  ];
  return sql`select ${presentColumns} from orders where ${sql.join(conditions, sql` and `)}`;
}
