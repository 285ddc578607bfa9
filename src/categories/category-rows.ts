import { sql } from 'kysely';
import { statement } from '../storage/database.ts';

/** The `count` first of the categories whose id is at least `firstId`. */
export const selectCategories = statement<{ firstId: bigint; count: bigint }>()((query, p) =>
  query
    .selectFrom('categories')
    .select(['id', 'name'])
    .where('id', '>=', p.firstId)
    .orderBy('id')
    .limit(p.count),
);

/** Names a category that is there; gives its id, or no row. */
export const renameCategory = statement<{ id: bigint; name: string }>()((query, p) =>
  query.updateTable('categories').set({ name: p.name }).where('id', '=', p.id).returning('id'),
);

/** Adds a category that is not there. */
export const insertCategory = statement<{ id: bigint; name: string }>()((query, p) =>
  query.insertInto('categories').values({ id: p.id, name: p.name }),
);

/** Deletes a category; gives its id, or no row. */
export const deleteCategory = statement<{ id: bigint }>()((query, p) =>
  query.deleteFrom('categories').where('id', '=', p.id).returning('id'),
);

/** How many categories there are. */
export const countCategories = statement<Record<never, never>>()((query) =>
  query.selectFrom('categories').select(({ fn }) => fn.countAll<bigint>().as('count')),
);

/** Of two numbers, a space apart from the locks of idempotency keys. */
const additions = sql.raw('1667331173, 1');

/** Lets one transaction at a time add categories. On SQLite transactions run one after the other. */
export const lockAdditions = statement<Record<never, never>>()((query, _, { engine }) =>
  query.selectNoFrom(
    (engine === 'postgres'
      ? sql<unknown>`cast(pg_advisory_xact_lock(${additions}) as text)`
      : sql<unknown>`null`
    ).as('lock'),
  ),
);
