import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

/** At most `count` categories from the id `firstId` on, sorted by id. */
export const selectCategories = statement<{ firstId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('categories')
    .select(['id', 'name'])
    .where('id', '>=', p.firstId)
    .orderBy('id')
    .limit(p.count),
);

/** The categories whose ids are in a JSON array, in no order. */
export const selectCategoriesOf = statement<{ ids: string }>()((query, p, { listIntegers }) =>
  query.selectFrom('categories').select(['id', 'name']).where('id', 'in', listIntegers(p.ids)),
);

/** The name of a category, in one row or none, locked until the transaction ends. */
export const lockName = statement<{ id: bigint }>()((query, p, { engine }) => {
  const found = query.selectFrom('categories').select('name').where('id', '=', p.id);
  return engine === 'postgres' ? found.forUpdate() : found;
});

/** Renames an existing category. */
export const renameCategory = statement<{ id: bigint; name: string }>()((query, p) =>
  query.updateTable('categories').set({ name: p.name }).where('id', '=', p.id),
);

/** Adds a new category. */
export const insertCategory = statement<{ id: bigint; name: string }>()((query, p) =>
  query.insertInto('categories').values({ id: p.id, name: p.name }),
);

/** Deletes a category. Returns its name, or no row. */
export const deleteCategory = statement<{ id: bigint }>()((query, p) =>
  query.deleteFrom('categories').where('id', '=', p.id).returning('name'),
);

/** How many categories there are. */
export const countCategories = statement<Record<never, never>>()((query) =>
  query.selectFrom('categories').select(({ fn }) => fn.countAll<bigint>().as('count')),
);

/** Two numbers, so that it differs from the locks of idempotency keys, which have one. */
const additions = sql.raw('1667331173, 1');

/** Makes transactions that name categories run one after the other. On SQLite all transactions do. */
export const lockAdditions = statement<Record<never, never>>()((query, _, { engine }) =>
  query.selectNoFrom(
    (engine === 'postgres'
      ? sql<unknown>`cast(pg_advisory_xact_lock(${additions}) as text)`
      : sql<unknown>`null`
    ).as('lock'),
  ),
);
