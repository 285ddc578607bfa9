import { type RawBuilder, sql } from 'kysely';
import { type Dialect, type Statement, statement } from '../storage/database.ts';
import type { EventReader } from './event-reader.ts';

/** A row of an event. `data` is the changed row as JSON. `previous` is the same row before an update, else null. */
export interface EventRow {
  readonly id: bigint;
  readonly at_ms: bigint;
  readonly type: string;
  /** The id and the name of the account of an order. Null for other events. */
  readonly account_id: bigint | null;
  readonly account: string | null;
  readonly data: string;
  readonly previous: string | null;
}

/** The bounds of the feed. */
export interface Ends {
  /** All events up to this position are deleted. */
  readonly deleted_to: bigint;
  /** The position of the newest event, even if this event is deleted. 0 if there was never an event. */
  readonly newest: bigint;
}

/** A row of a page: an event and the bounds of the feed. An empty page has one row, and its `id` is null. */
export type FeedRow = Ends & (EventRow | { readonly id: null });

type PageParameters = { after: bigint; count: bigint; accountId: bigint };
type PageStatement = Statement<PageParameters, FeedRow>;
type Visibility = `${'pets' | 'no pets'}, ${EventReader['seesOrders']}`;

/**
 * The condition for the events that a reader may see. If the reader may see only orders, an index of order events has
 * the same condition. Other readers need no such index, because at least half of all events are about animals.
 */
const visible: Readonly<Record<Visibility, (accountId: bigint) => RawBuilder<unknown>>> = {
  'pets, all': () => sql`true`,
  'pets, own': (accountId) => sql`(events.account_id is null or events.account_id = ${accountId})`,
  'pets, none': () => sql`events.account_id is null`,
  'no pets, all': () => sql`events.account_id is not null`,
  'no pets, own': (accountId) => sql`events.account_id = ${accountId}`,
  'no pets, none': () => sql`false`,
};

const pages = Object.fromEntries(
  Object.entries(visible).map(([visibility, isVisible]) => [visibility, selectPage(isVisible)]),
) as Record<Visibility, PageStatement>;

/**
 * Returns the statement for a page of the events that a reader may see, oldest first. Each row also has the bounds of
 * the feed at that moment.
 */
export function selectPageFor({ seesPets, seesOrders }: EventReader): PageStatement {
  return pages[`${seesPets ? 'pets' : 'no pets'}, ${seesOrders}`];
}

function selectPage(isVisible: (accountId: bigint) => RawBuilder<unknown>): PageStatement {
  return statement<PageParameters>()((query, p, dialect) =>
    query
      .with('ends', () => sql<Ends>`(select deleted_to, ${newest(dialect)} as newest from event_horizon)`)
      .with(
        'page',
        () => sql<EventRow>`(select events.id, at_ms, type, account_id, data, previous,
          (select name from accounts where accounts.id = events.account_id) as account
          from events where events.id > ${p.after} and ${isVisible(p.accountId)}
          order by events.id limit ${p.count} + 0)`,
      )
      .selectFrom('ends')
      .leftJoin('page', (join) => join.onTrue())
      .selectAll()
      .orderBy('page.id')
      .$castTo<FeedRow>(),
  );
}

/** SQL expression for `Ends.newest`. The query must select from `event_horizon`. */
export function newest({ engine }: Dialect): RawBuilder<unknown> {
  const greater = sql.raw(engine === 'sqlite' ? 'max' : 'greatest');
  return sql`${greater}(deleted_to, coalesce((select max(id) from events), 0))`;
}
