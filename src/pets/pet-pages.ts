import { sql } from 'kysely';
import { byShape, statement } from '../storage/database.ts';
import { type PetStatus, petStatuses } from './pet.ts';
import { shownColumns } from './pet-rows.ts';

/** The filters of a page of animals. Null or absent means no filter. */
export interface PetFilter {
  readonly status: PetStatus | null;
  readonly categoryId?: bigint | null;
  /** 1 to 100 ids. */
  readonly ids?: readonly bigint[] | null;
}

/** The parameters of a page: the `count` newest animals whose id is at most `newestId`. `ids` is a JSON array. */
type PageParameters = { newestId: bigint; count: bigint; categoryId: bigint | null; ids: string | null };

/**
 * Returns the statement for a page of animals, newest first. Each combination of filters has its own statement. Without
 * ids, its cost depends neither on the depth nor on the filters. With ids, it reads all of these animals before it applies
 * the other filters.
 */
export function selectPage({ status, categoryId = null, ids = null }: PetFilter) {
  return selectShape({ status, hasCategory: categoryId !== null, hasIds: ids !== null });
}

type Shape = { readonly status: PetStatus | null; readonly hasCategory: boolean; readonly hasIds: boolean };

const selectShape = byShape(({ status, hasCategory, hasIds }: Shape) =>
  statement<PageParameters>()((query, p, { isAmong, isExactly, keyset }) => {
    const animals = query.selectFrom('pets').select(shownColumns);
    // The status is a literal, so that PostgreSQL uses the partial index for this status.
    const ofStatus = sql<boolean>`${status === null ? sql`true` : sql`status = ${sql.lit(status)}`}`;
    if (hasIds)
      return query
        .with(
          (cte) => cte('named').materialized(),
          () => animals.where(isAmong('id', p.ids as string)),
        )
        .selectFrom('named')
        .select(shownColumns)
        .where('id', '<=', p.newestId)
        .where(ofStatus)
        .$if(hasCategory, (named) => named.where('category_id', '=', p.categoryId as bigint))
        .orderBy('id', 'desc')
        .limit(p.count);
    if (!hasCategory)
      return animals.where('id', '<=', p.newestId).where(ofStatus).orderBy('id', 'desc').limit(p.count);
    // Merges the pages of the three statuses, so that a category needs no index of its own. On PostgreSQL, `isExactly`
    // matches the indexes by category and not those by status alone.
    const { where, orderBy } = keyset([['category_id', sql`${p.categoryId}`]], p.newestId);
    const [first, ...others] = (status === null ? petStatuses : [status]).map((one) => {
      const page = animals.where(isExactly('status', one)).where(where).orderBy(orderBy).limit(p.count);
      return query.selectFrom(page.as(one)).select(shownColumns);
    });
    if (first === undefined) throw new Error('petStatuses is empty');
    const pages = others.reduce((union, page) => union.unionAll(page), first);
    return query.selectFrom(pages.as('pets')).select(shownColumns).orderBy('id', 'desc').limit(p.count);
  }),
);
