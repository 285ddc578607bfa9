import { type RawBuilder, sql } from 'kysely';
import { AppError } from '../errors.ts';
import { type RowOf, statement } from '../storage/database.ts';
import type { ByEngine, Dialect, Keyset } from '../storage/dialect.ts';
import { afterRule, catalogueEventTypes, eventTypes, orderEventTypes } from './event.ts';
import { type EventReader, isOrderType } from './event-reader.ts';

const storedColumns = ['events.id', 'at_ms', 'type', 'account_id', 'data', 'previous'] as const;

/** SQL expression for the current name of the account of an event. */
const nameAccount = (accountId: RawBuilder<unknown>) =>
  sql<string | null>`(select name from accounts where accounts.id = ${accountId})`.as('account');

const eventColumns = [...storedColumns, nameAccount(sql`events.account_id`)] as const;

export const selectEvent = statement((query, p: { position: bigint }) =>
  query.selectFrom('events').select(eventColumns).where('id', '=', p.position),
);

/** `data` is the changed row as JSON, `previous` the row before an update, else null. Only orders have an account. */
export type EventRow = RowOf<typeof selectEvent>;

export interface Ends {
  /** All events up to this position are deleted. */
  readonly deleted_to: bigint;
  /** The position of the newest event, even if this event is deleted, or `skipped_to`. 0 if there was never an event. */
  readonly newest: bigint;
  /** Servers that took over have skipped positions up to this one. 0 if none has. */
  readonly skipped_to: bigint;
  /** 1 if only a former server may have given the position that was asked for, else 0. */
  readonly is_lost: bigint;
}

/** A row of a page: an event and the bounds of the feed. An empty page has one row, and its `id` is null. */
export type FeedRow = Ends & (EventRow | { readonly id: null });

export interface FeedPage {
  readonly events: readonly EventRow[];
  /** The next page begins after this position. */
  readonly next: bigint;
}

/** The newest position (see `Ends`). The table of events alone does not have it: its newest event may be deleted. */
export const newest: RawBuilder<bigint> = sql`(
  select max(id) from (
    select deleted_to as id from event_horizon
    union all select max(id) from events
    union all select max(skipped_to) from event_gaps
  ) as ends)`;

/**
 * 1 if this server has taken over from another one and has not skipped the positions that may be lost, else 0: after a
 * promotion or a restore of PostgreSQL, until the first insert (skip_lost_ids in migration 0004). A restore puts the row of
 * `server_timeline` into a new table, by a new transaction: `tableoid` and `xmin` are then not those that the row has.
 */
const tookOver: ByEngine<RawBuilder<unknown>> = {
  sqlite: sql`0`,
  postgres: sql`case when pg_is_in_recovery() then 0
    when exists (select from server_timeline
      where timeline = read_timeline() and table_id = tableoid and written_in = xmin) then 0
    else 1 end`,
};

const endsFor = (position: bigint, { engine }: Dialect) => sql<Ends>`(
  select deleted_to, ${newest} as newest,
    (select coalesce(max(skipped_to), 0) from event_gaps) as skipped_to,
    cast(case when ${position} > ${newest} then ${tookOver[engine]}
      when exists (select 1 from event_gaps where lost_after < ${position} and skipped_to > ${position}) then 1
      else 0 end as bigint) as is_lost
  from event_horizon limit 1)`;

export const selectEnds = statement((query, p: { position: bigint }, dialect) =>
  query
    .with('ends', () => endsFor(p.position, dialect))
    .selectFrom('ends')
    .selectAll(),
);

/**
 * What the feed knows about a position. `kept`: all events after it. `lost`: an event after it is deleted, or only a
 * former server may have given it. `unknown`: nobody has given it.
 */
type Judgement = 'kept' | 'lost' | 'unknown';

export function judgePosition(position: bigint, { deleted_to, newest: end, is_lost }: Ends): Judgement {
  if (position < deleted_to || is_lost === 1n) return 'lost';
  return position > end ? 'unknown' : 'kept';
}

const listLiterals = (types: readonly string[]) => sql.join(types.map((type) => sql.lit(type)));

/**
 * The condition names the types, so that nobody sees a type that this release does not know. `coalesce` keeps both
 * engines from the index of types: they would read and sort all events after the position.
 */
function isOneOf(types: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`coalesce(type in (${listLiterals(types)}), false)`;
}

type PageParameters = { after: bigint; count: bigint; accountId: bigint };
type Shape = Pick<EventReader, 'seesPets' | 'seesOrders'>;

/**
 * Returns the condition and the order of a page. Only one index fits both, whatever the statistics say: that of all
 * events, that of all order events, or that of one account. Animals need none of their own, because at least half of all
 * events are about animals. `account_id is not null` is the condition of the two indexes of orders, which are partial.
 */
function findPlace({ seesPets, seesOrders }: Shape, { after, accountId }: PageParameters, dialect: Dialect) {
  const isOfOrders = isOneOf(orderEventTypes);
  if (!seesPets && seesOrders === 'own') {
    const { where, orderBy } = dialect.keysetAfter([['account_id', sql`${accountId}`]], sql`${after}`);
    return { where: sql<boolean>`account_id is not null and ${where} and ${isOfOrders}`, orderBy };
  }
  const orders = {
    none: sql`false`,
    own: sql`(account_id = ${accountId} and ${isOfOrders})`,
    all: sql`(account_id is not null and ${isOfOrders})`,
  }[seesOrders];
  const isVisible = seesPets ? sql`(${isOneOf(catalogueEventTypes)} or ${orders})` : orders;
  return { where: sql<boolean>`id > ${after} and ${isVisible}`, orderBy: sql`id` };
}

const declarePage = (shape: Shape) =>
  statement((query, p: PageParameters, dialect) => {
    const { where, orderBy } = findPlace(shape, p, dialect);
    return query
      .with('ends', () => endsFor(p.after, dialect))
      .with('page', (cte) =>
        cte.selectFrom('events').select(eventColumns).where(where).orderBy(orderBy).limit(p.count),
      )
      .selectFrom('ends')
      .leftJoin('page', (join) => join.onTrue())
      .selectAll()
      .orderBy('page.id')
      .$castTo<FeedRow>();
  });

const declarePages = (seesPets: boolean) => ({
  none: declarePage({ seesPets, seesOrders: 'none' }),
  own: declarePage({ seesPets, seesOrders: 'own' }),
  all: declarePage({ seesPets, seesOrders: 'all' }),
});

const pagesWithPets = declarePages(true);
const pagesWithoutPets = declarePages(false);

/** Returns the statement for a page of the events that a reader may see, oldest first, with the bounds of the feed. */
export function selectPageFor({ seesPets, seesOrders }: EventReader) {
  const pages = seesPets ? pagesWithPets : pagesWithoutPets;
  return pages[seesOrders];
}

/**
 * The index over the types of all events, or of the events of one account: a condition, and its first column. That of one
 * account is the expression of the index `events_by_account_and_type`, so that one search finds a type of an account.
 */
export const indexOfType = {
  all: (type: RawBuilder<unknown>): TypeIndex => [sql`true`, ['type', type]],
  own: (type: RawBuilder<unknown>, accountId: RawBuilder<unknown>): TypeIndex => [
    sql`account_id is not null`,
    [sql`cast(account_id as text) || ' ' || type`, sql`cast(${accountId} as text) || ' ' || ${type}`],
  ],
};

type TypeIndex = readonly [condition: RawBuilder<unknown>, key: Keyset[number]];

type TypedParameters = PageParameters & {
  /** The types, separated by spaces. */
  types: string;
};

/** Selects a page of each type, which is one search in an index. A type that is not wanted has a page of no rows. */
function listByType(orders: 'own' | 'all', p: TypedParameters, dialect: Dialect) {
  return eventTypes.map((type) => {
    const name = sql.lit(type);
    const isOwn = orders === 'own' && isOrderType(type);
    const [condition, key] = isOwn ? indexOfType.own(name, sql`${p.accountId}`) : indexOfType.all(name);
    const { where, orderBy } = dialect.keysetAfter([key], sql`${p.after}`);
    const isWanted = sql`' ' || ${p.types} || ' ' like ${sql.lit(`% ${type} %`)}`;
    return {
      where: sql<boolean>`${condition} and ${where}`,
      orderBy,
      limit: sql<bigint>`case when ${isWanted} then cast(${p.count} as bigint) else 0 end`,
    };
  });
}

const declareTypedPage = (orders: 'own' | 'all') =>
  statement((query, p: TypedParameters, dialect) => {
    const pages = listByType(orders, p, dialect).map(({ where, orderBy, limit }) => {
      const page = query
        .selectFrom('events')
        .select(storedColumns)
        .where(where)
        .orderBy(orderBy)
        .limit(limit);
      return query.selectFrom(page.as('of_type')).selectAll();
    });
    const all = pages.reduce((union, page) => union.unionAll(page));
    return query
      .with('ends', () => endsFor(p.after, dialect))
      .with('page', (cte) => cte.selectFrom(all.as('of_types')).selectAll().orderBy('id').limit(p.count))
      .selectFrom('ends')
      .leftJoin('page', (join) => join.onTrue())
      .selectAll()
      .select(nameAccount(sql`page.account_id`))
      .orderBy('page.id')
      .$castTo<FeedRow>();
  });

const typedPages = { own: declareTypedPage('own'), all: declareTypedPage('all') };

/**
 * Like `selectPageFor`, for the events of some types, all of which the reader may read. Reads at most one page of each
 * type, however many other events lie between.
 */
export const selectTypedPageFor = ({ seesOrders }: Pick<EventReader, 'seesOrders'>) =>
  typedPages[seesOrders === 'all' ? 'all' : 'own'];

/**
 * Builds a page from rows of `selectPageFor` or `selectTypedPageFor`. If it has fewer events than `limit`, it reaches the end
 * of the feed.
 */
export function toFeedPage(rows: readonly FeedRow[], limit: number): FeedPage {
  const events = rows.filter((row): row is FeedRow & EventRow => row.id !== null);
  const last = events.at(-1);
  const isFull = last !== undefined && events.length >= limit;
  return { events, next: isFull ? last.id : endsOf(rows).newest };
}

export function expiredEvents(): AppError {
  return new AppError(
    'events_expired',
    'after: the events after this one are no longer kept; read the store again and continue from after=now',
  );
}

/** The event that a request names is deleted. */
export const expiredEvent = () => new AppError('events_expired', 'eventId: this event is no longer kept');

export function unknownEvent(code: 'invalid_parameter' | 'invalid_body' = 'invalid_parameter'): AppError {
  return new AppError(code, `after ${afterRule}`);
}

/** Returns the bounds of the feed from the rows of `selectEnds` or of a page. */
export function endsOf<T extends Ends>([row]: readonly T[]): T {
  if (row === undefined) throw new Error('the table event_horizon has no row');
  return row;
}
