import { type QueryCreator, sql } from 'kysely';
import { int64Max } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import { type Database, type Dialect, statement } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';
import { type Pet, type PetStatus, petStatuses } from './pet.ts';
import { type PetRow, shownColumns, toPet } from './pet-rows.ts';

/** A query for a page of animals. */
export interface ListQuery {
  /** Maximum number of animals on the page, 1 to 100 in a request. */
  readonly limit: number;
  /** Lists only animals with this status. Null lists all. */
  readonly status: PetStatus | null;
  /** Lists only animals with this category. Null lists all. */
  readonly categoryId?: bigint | null;
  /** Lists only animals with these ids, 1 to 100 ids. Null lists all. */
  readonly ids?: readonly bigint[] | null;
  /** The highest id that the page may contain. Null starts with the newest animal. */
  readonly newestId: bigint | null;
}

/** Reads a page of animals, newest first. Without ids, its cost depends neither on the depth nor on the filters. */
export async function readPage(database: Database, query: ListQuery): Promise<Page<Pet>> {
  return toPage(await readRows(database, query), query.limit, toPet);
}

/** Reads one row more than the page has: the first of the next page. */
function readRows(database: Database, query: ListQuery): Promise<readonly PetRow[]> {
  const { limit, status, categoryId = null, ids = null, newestId } = query;
  const range = { newestId: newestId ?? int64Max, count: BigInt(limit) + 1n };
  if (ids !== null)
    return database.read(selectNewestNamed, { ...range, ids: `[${ids.join()}]`, status, categoryId });
  if (categoryId === null)
    return database.read(status === null ? selectNewest : selectNewestOf[status], range);
  const target = status === null ? selectNewestOfCategory : selectNewestOfBoth[status];
  return database.read(target, { ...range, categoryId });
}

/** Selects the `count` newest animals whose id is at most `newestId`. */
type PageParameters = { newestId: bigint; count: bigint };
type CategoryParameters = PageParameters & { categoryId: bigint };
/** `ids` is a JSON array of ids. A null `status` or `categoryId` selects all. */
type NamedParameters = PageParameters & { ids: string; status: string | null; categoryId: bigint | null };

/** Selects a page of all animals. */
export const selectNewest = statement<PageParameters>()((query, p) => newest(query, p));

/** Selects a page of the animals with a status. */
export const selectNewestOf = ofEachStatus((status) =>
  // The status is a literal, so that PostgreSQL uses the partial index for this status.
  statement<PageParameters>()((query, p) => newest(query, p).where('status', '=', sql.lit(status))),
);

/** Selects a page of the animals with a category and a status. */
export const selectNewestOfBoth = ofEachStatus((status) =>
  statement<CategoryParameters>()((query, p, dialect) => newestOfBoth(query, p, status, dialect)),
);

/**
 * Selects a page of the animals with a category. Merges the pages of the three statuses, so that this query needs no
 * index of its own.
 */
export const selectNewestOfCategory = statement<CategoryParameters>()((query, p, dialect) => {
  const [first, ...others] = petStatuses.map((status) =>
    query.selectFrom(newestOfBoth(query, p, status, dialect).as(status)).select(shownColumns),
  );
  if (first === undefined) throw new Error('petStatuses is empty');
  const pages = others.reduce((union, page) => union.unionAll(page), first);
  return query.selectFrom(pages.as('pets')).select(shownColumns).orderBy('id', 'desc').limit(p.count);
});

/** Selects a page of the animals with the given ids. Reads all of these animals before it applies the filters. */
export const selectNewestNamed = statement<NamedParameters>()((query, p, dialect) =>
  query
    .with(
      (cte) => cte('named').materialized(),
      (cte) => cte.selectFrom('pets').select(shownColumns).where(dialect.isAmong('id', p.ids)),
    )
    .selectFrom('named')
    .select(shownColumns)
    .where('id', '<=', p.newestId)
    .where(sql<boolean>`(cast(${p.status} as text) is null or status = ${p.status})`)
    .where(sql<boolean>`(cast(${p.categoryId} as bigint) is null or category_id = ${p.categoryId})`)
    .orderBy('id', 'desc')
    .limit(p.count),
);

function newest(query: QueryCreator<Tables>, p: PageParameters) {
  return query
    .selectFrom('pets')
    .select(shownColumns)
    .where('id', '<=', p.newestId)
    .orderBy('id', 'desc')
    .limit(p.count);
}

/**
 * On PostgreSQL, `isExactly` matches the indexes by category and not those by status alone.
 */
function newestOfBoth(
  query: QueryCreator<Tables>,
  p: CategoryParameters,
  status: PetStatus,
  { keyset, isExactly }: Dialect,
) {
  const { where, orderBy } = keyset([['category_id', sql`${p.categoryId}`]], p.newestId);
  return query
    .selectFrom('pets')
    .select(shownColumns)
    .where(isExactly('status', status))
    .where(where)
    .orderBy(orderBy)
    .limit(p.count);
}

function ofEachStatus<S>(make: (status: PetStatus) => S): Readonly<Record<PetStatus, S>> {
  return { available: make('available'), pending: make('pending'), sold: make('sold') };
}
