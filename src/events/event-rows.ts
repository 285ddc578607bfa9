import { type RawBuilder, sql } from 'kysely';
import { type Dialect, type Statement, statement } from '../storage/database.ts';
import type { EventReader } from './event-reader.ts';

/** The row of an event. `data` and `previous` are rows as JSON. */
export interface EventRow {
  readonly id: bigint;
  readonly at_ms: bigint;
  readonly type: string;
  /** The id and name of the account. Only for events of orders. */
  readonly account_id: bigint | null;
  readonly account: string | null;
  readonly data: string;
  readonly previous: string | null;
}

/** The ends of the feed. */
export interface Ends {
  /** All events up to this position are deleted. */
  readonly deleted_to: bigint;
  /** The position of the newest event ever, even if it is deleted. 0 before the first. */
  readonly newest: bigint;
}

/** A row of a page: an event with the ends of the feed, or only the ends if the page is empty. */
export type FeedRow = Ends & (EventRow | { readonly id: null });

type PageParameters = { after: bigint; count: bigint; accountId: bigint };
type PageStatement = Statement<PageParameters, FeedRow>;
type Visibility = `${'pets' | 'no pets'}, ${EventReader['seesOrders']}`;

/**
 * The condition for what a reader sees. A reader of only orders uses an index of their events. For others, no index is
 * needed, because at least every second event is about an animal.
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

/** The statement for a page of what a reader sees, oldest first, with the ends of the feed at that moment. */
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

/** The position of the newest event ever. Use it with the row of `event_horizon`. */
export function newest({ engine }: Dialect): RawBuilder<unknown> {
  const greater = sql.raw(engine === 'sqlite' ? 'max' : 'greatest');
  return sql`${greater}(deleted_to, coalesce((select max(id) from events), 0))`;
}
