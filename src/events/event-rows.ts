import { type RawBuilder, sql } from 'kysely';
import { type Dialect, type Statement, statement } from '../storage/database.ts';
import type { EventReader } from './event-reader.ts';

/** An event as its row holds it. `data` and `previous` are rows as JSON. */
export interface EventRow {
  readonly id: bigint;
  readonly at_ms: bigint;
  readonly type: string;
  /** Of an order's event alone: the id and the name of its account. */
  readonly account_id: bigint | null;
  readonly account: string | null;
  readonly data: string;
  readonly previous: string | null;
}

/** Where the feed begins and ends. */
export interface Ends {
  /** The position up to which all events are gone. */
  readonly deleted_to: bigint;
  /** The position of the newest event that there ever was; 0 before the first. */
  readonly newest: bigint;
}

/** A row of a page: an event with the ends of the feed; one without an event where the page is empty. */
export type FeedRow = Ends & (EventRow | { readonly id: null });

type PageParameters = { after: bigint; count: bigint; accountId: bigint };
type PageStatement = Statement<PageParameters, FeedRow>;
type Sight = `${'pets' | 'no pets'}, ${EventReader['seesOrders']}`;

/** A reader who sees orders alone goes along an index of theirs; of all other events at least every second is an animal's. */
const visible: Readonly<Record<Sight, (accountId: bigint) => RawBuilder<unknown>>> = {
  'pets, all': () => sql`true`,
  'pets, own': (accountId) => sql`(events.account_id is null or events.account_id = ${accountId})`,
  'pets, none': () => sql`events.account_id is null`,
  'no pets, all': () => sql`events.account_id is not null`,
  'no pets, own': (accountId) => sql`events.account_id = ${accountId}`,
  'no pets, none': () => sql`false`,
};

const pages = Object.fromEntries(
  Object.entries(visible).map(([sight, isVisible]) => [sight, selectPage(isVisible)]),
) as Record<Sight, PageStatement>;

/** The statement of a page of what a reader sees, oldest first, with the ends of the feed at the same moment. */
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

function newest({ engine }: Dialect): RawBuilder<unknown> {
  const greater = sql.raw(engine === 'sqlite' ? 'max' : 'greatest');
  return sql`${greater}(deleted_to, coalesce((select max(id) from events), 0))`;
}
