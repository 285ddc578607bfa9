import { type Selectable, sql } from 'kysely';
import { takeOldest } from '../storage/batches.ts';
import { byFilters, statement } from '../storage/database.ts';
import type { Tables } from '../storage/tables.ts';

/** The sum of the counts of each status. */
const sums = [
  sql<bigint>`cast(coalesce(sum(available), 0) as bigint)`.as('available'),
  sql<bigint>`cast(coalesce(sum(pending), 0) as bigint)`.as('pending'),
  sql<bigint>`cast(coalesce(sum(sold), 0) as bigint)`.as('sold'),
] as const;

const counts = ['available', 'pending', 'sold'] as const;

type Counts = Readonly<Record<(typeof counts)[number], bigint>>;
type CategoryFilter = { readonly categoryId: bigint | null };

/**
 * Selects the inventory of all animals or of a category, in one row. Sums the totals and the changes that are not added to
 * them yet.
 */
export const selectInventory = byFilters<
  'categoryId',
  CategoryFilter,
  Counts & { readonly as_of_ms: bigint }
>((isSet) =>
  statement<CategoryFilter>()((query, p, { nowMs }) => {
    const ofCategory = isSet('categoryId') ? sql`where category_id = ${p.categoryId}` : sql``;
    const totals = sql.table(isSet('categoryId') ? 'inventory_by_category' : 'inventory_totals');
    const columns = sql.raw(counts.join());
    return query
      .selectFrom(
        sql<Counts>`(select ${columns} from ${totals} ${ofCategory}
          union all select ${columns} from inventory_changes ${ofCategory})`.as('counts'),
      )
      .select([...sums, nowMs.as('as_of_ms')]);
  }),
);

/**
 * Only for PostgreSQL. Adds the first changes of a range to the totals. Returns no row if there are none or another
 * instance adds changes.
 */
export const foldChanges = statement<{ lock: bigint; after: bigint; count: bigint }>({
  isPlannedEachTime: true,
})((query, p, dialect) =>
  query
    .with('taken', () =>
      takeOldest<Selectable<Tables['inventory_changes']>>(
        'inventory_changes',
        ['id', 'category_id', ...counts],
        p,
        dialect,
      ),
    )
    .with('folded', (cte) =>
      cte
        .insertInto('inventory_by_category')
        .columns(['category_id', ...counts])
        .expression(({ selectFrom }) =>
          selectFrom('taken')
            .select(['category_id', ...sums])
            .groupBy('category_id'),
        )
        .onConflict((conflict) =>
          conflict.column('category_id').doUpdateSet((eb) => ({
            available: eb('inventory_by_category.available', '+', eb.ref('excluded.available')),
            pending: eb('inventory_by_category.pending', '+', eb.ref('excluded.pending')),
            sold: eb('inventory_by_category.sold', '+', eb.ref('excluded.sold')),
          })),
        ),
    )
    .with('total', (cte) =>
      cte
        .selectFrom('taken')
        .select([...sums, sql<bigint>`count(*)`.as('changes'), sql<bigint | null>`max(id)`.as('last')]),
    )
    .updateTable('inventory_totals')
    .from('total')
    .set((eb) => ({
      available: eb('inventory_totals.available', '+', eb.ref('total.available')),
      pending: eb('inventory_totals.pending', '+', eb.ref('total.pending')),
      sold: eb('inventory_totals.sold', '+', eb.ref('total.sold')),
    }))
    .where('total.changes', '>', sql.lit(0n))
    .returning(['total.changes as taken', 'total.last']),
);
