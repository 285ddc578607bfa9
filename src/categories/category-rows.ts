import { statement } from '../storage/database.ts';

/** Selects at most `count` categories with ids from `firstId` on, sorted by id. */
export const selectCategories = statement<{ firstId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('categories')
    .select(['id', 'name'])
    .where('id', '>=', p.firstId)
    .orderBy('id')
    .limit(p.count),
);

/** Selects the categories with the given ids, unordered. `ids` is a JSON array. */
export const selectCategoriesOf = statement<{ ids: string }>()((query, p, { isAmong }) =>
  query.selectFrom('categories').select(['id', 'name']).where(isAmong('id', p.ids)),
);

/** Selects the name of a category. On PostgreSQL, locks the row until the transaction ends. */
export const lockName = statement<{ id: bigint }>()((query, p, { lockRows }) =>
  query.selectFrom('categories').select('name').where('id', '=', p.id).modifyEnd(lockRows),
);

export const renameCategory = statement<{ id: bigint; name: string }>()((query, p) =>
  query.updateTable('categories').set({ name: p.name }).where('id', '=', p.id),
);

export const insertCategory = statement<{ id: bigint; name: string }>()((query, p) =>
  query.insertInto('categories').values({ id: p.id, name: p.name }),
);

/** Deletes a category. Returns its name, or no row if the category does not exist. */
export const deleteCategory = statement<{ id: bigint }>()((query, p) =>
  query.deleteFrom('categories').where('id', '=', p.id).returning('name'),
);

export const countCategories = statement<Record<never, never>>()((query) =>
  query.selectFrom('categories').select(({ fn }) => fn.countAll<bigint>().as('count')),
);

/** Two numbers, so that the lock cannot equal the lock of an idempotency key, which has one number. */
const additions = [1_667_331_173, 1] as const;

/** Makes transactions that create or rename categories run one after the other. */
export const lockAdditions = statement<Record<never, never>>()((query, _, { waitForLock }) =>
  query.selectNoFrom(waitForLock(...additions).as('lock')),
);
