import { type QueryCreator, sql } from 'kysely';
import { type Dialect, statement } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';
import { type PetStatus, petStatuses } from './pet.ts';

/** Selects the `count` newest animals whose id is at most `newestId`. */
type PageParameters = { newestId: bigint; count: bigint };
type CategoryParameters = PageParameters & { categoryId: bigint };
/** `ids` is a JSON array of ids. A null `status` or `categoryId` selects all. */
type NamedParameters = PageParameters & { ids: string; status: string | null; categoryId: bigint | null };

const columns = ['id', 'name', 'category_id', 'status'] as const;

/** Selects a page of all animals. */
export const selectNewest = statement<PageParameters>()((query, p) => newest(query, p));

/**
 * Selects a page of the animals with a status. Each status has an index, so the cost does not depend on the number of
 * animals.
 */
export const selectNewestOf: Readonly<Record<PetStatus, typeof selectNewest>> = {
  available: selectNewestOfStatus('available'),
  pending: selectNewestOfStatus('pending'),
  sold: selectNewestOfStatus('sold'),
};

/** Selects a page of the animals with a category and a status. */
export const selectNewestOfBoth: Readonly<Record<PetStatus, typeof selectNewestOfCategory>> = {
  available: selectNewestOfCategoryAndStatus('available'),
  pending: selectNewestOfCategoryAndStatus('pending'),
  sold: selectNewestOfCategoryAndStatus('sold'),
};

/**
 * Selects a page of the animals with a category. Merges the pages of the three statuses, so that this query needs no
 * index of its own.
 */
export const selectNewestOfCategory = statement<CategoryParameters>()((query, p, dialect) => {
  const [first, ...others] = petStatuses.map((status) =>
    query.selectFrom(newestOfBoth(query, p, status, dialect).as(status)).select(columns),
  );
  if (first === undefined) throw new Error('petStatuses is empty');
  const pages = others.reduce((union, page) => union.unionAll(page), first);
  return query.selectFrom(pages.as('pets')).select(columns).orderBy('id', 'desc').limit(p.count);
});

/** Selects a page of the animals with the given ids. Reads all of these animals before it applies the filters. */
export const selectNewestNamed = statement<NamedParameters>()((query, p, dialect) =>
  query
    .with(
      (cte) => cte('named').materialized(),
      (cte) => readNamed(cte, p.ids, dialect),
    )
    .selectFrom('named')
    .select(columns)
    .where('id', '<=', p.newestId)
    .where(sql<boolean>`(cast(${p.status} as text) is null or status = ${p.status})`)
    .where(sql<boolean>`(cast(${p.categoryId} as bigint) is null or category_id = ${p.categoryId})`)
    .orderBy('id', 'desc')
    .limit(p.count),
);

/**
 * Makes PostgreSQL look up each id in the primary key. The planner does not know the number of ids, so it might
 * otherwise read the whole table.
 */
function readNamed(query: QueryCreator<Tables>, ids: string, { engine, listIntegers }: Dialect) {
  const listed = listIntegers(ids);
  if (engine === 'sqlite') return query.selectFrom('pets').select(columns).where('id', 'in', listed);
  return query
    .selectFrom(sql<{ value: bigint }>`(select distinct value from ${listed} as listed)`.as('ids'))
    .innerJoinLateral(
      (eb) =>
        eb.selectFrom('pets').select(columns).whereRef('id', '=', 'ids.value').limit(sql.lit(1)).as('pets'),
      (join) => join.onTrue(),
    )
    .select(['pets.id', 'pets.name', 'pets.category_id', 'pets.status']);
}

function newest(query: QueryCreator<Tables>, p: PageParameters) {
  return query
    .selectFrom('pets')
    .select(columns)
    .where('id', '<=', p.newestId)
    .orderBy('id', 'desc')
    .limit(p.count);
}

/** The status is a literal, so that PostgreSQL uses the partial index for this status. */
function selectNewestOfStatus(status: PetStatus): typeof selectNewest {
  return statement<PageParameters>()((query, p) => newest(query, p).where('status', '=', sql.lit(status)));
}

function selectNewestOfCategoryAndStatus(status: PetStatus) {
  return statement<CategoryParameters>()((query, p, dialect) => newestOfBoth(query, p, status, dialect));
}

/**
 * On PostgreSQL, the sort order matches only one index (`indexCategories`), and the bounds are on the first column of
 * this index. The statement therefore reads only the rows of the page, whatever the planner's statistics say.
 */
function newestOfBoth(
  query: QueryCreator<Tables>,
  p: CategoryParameters,
  status: PetStatus,
  { engine }: Dialect,
) {
  if (engine === 'sqlite')
    return newest(query, p).where('category_id', '=', p.categoryId).where('status', '=', sql.lit(status));
  return query
    .selectFrom('pets')
    .select(columns)
    .where('status', '>=', sql.lit(status))
    .where('status', '<=', sql.lit(status))
    .where(sql<boolean>`(category_id, id) <= (${p.categoryId}, ${p.newestId})`)
    .where('category_id', '>=', p.categoryId)
    .orderBy('category_id', 'desc')
    .orderBy('id', 'desc')
    .limit(p.count);
}
