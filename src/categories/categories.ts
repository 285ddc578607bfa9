import { type RawBuilder, sql } from 'kysely';
import type { Static } from 'typebox';
import { type Actor, type Authored, type Authorship, addAuditEntry } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { AppError, notFound } from '../errors.ts';
import { int64Min } from '../int64.ts';
import { int64Field, namedObject, nameField } from '../schema.ts';
import { type Database, statement, step, transaction } from '../storage/database.ts';
import type { ByEngine } from '../storage/dialect.ts';
import { insertRow } from '../storage/insert-row.ts';
import { type Page, toPage } from '../storage/read-page.ts';

/** Maximum number of categories in a store (contract section 11). */
export const categoriesMax = 10_000n;
const tooMany = `there are ${categoriesMax} categories, the most that a store may have`;

/** The request body that creates or renames a category. */
export const NewCategorySchema = namedObject('NewCategory', 'The name of a category.', {
  name: nameField("The category's name.", 'Dogs'),
});

const about = 'A name for a number that animals have as `categoryId`.';

/** A category, as responses and events show it. */
export const CategorySchema = namedObject('Category', about, {
  id: int64Field('The `categoryId` of its animals.'),
  ...NewCategorySchema.properties,
});

export type Category = Static<typeof CategorySchema>;

const selectCategories = statement((query, p: { firstId: bigint; count: bigint }) =>
  query
    .selectFrom('categories')
    .select(['id', 'name'])
    .where('id', '>=', p.firstId)
    .orderBy('id')
    .limit(p.count),
);

/** `ids` is a JSON array. */
const selectCategoriesOf = statement((query, p: { ids: string }, { isAmong }) =>
  query.selectFrom('categories').select(['id', 'name']).where(isAmong('id', p.ids)),
);

const lockName = statement((query, p: { id: bigint }, { lockRows }) =>
  query.selectFrom('categories').select('name').where('id', '=', p.id).modifyEnd(lockRows),
);

const renameCategory = statement((query, p: { id: bigint; name: string }) =>
  query.updateTable('categories').set({ name: p.name }).where('id', '=', p.id),
);

const insertCategory = insertRow('categories', ['id', 'name']);

const deleteCategory = statement((query, p: { id: bigint }) =>
  query.deleteFrom('categories').where('id', '=', p.id).returning('name'),
);

const countCategories = statement((query) =>
  query.selectFrom('categories').select(({ fn }) => fn.countAll<bigint>().as('count')),
);

/** "cate" in ASCII, and 1. Two numbers, so that the lock cannot equal that of an idempotency key, which has one. */
const additionsLock: ByEngine<RawBuilder<unknown>> = {
  sqlite: sql`null`,
  postgres: sql`cast(pg_advisory_xact_lock(1667331173, 1) as text)`,
};

/**
 * Makes creations and renames run one after the other, so that there are never more than `categoriesMax`. Waits for an
 * advisory lock, and keeps it until the transaction ends. SQLite runs one transaction at a time.
 */
const lockAdditions = statement((query, _, { engine }) =>
  query.selectNoFrom(additionsLock[engine].as('lock')),
);

/**
 * Creates or renames a category. If the name is the same as before, changes nothing. The trigger `categories_added` or
 * `categories_updated` records the event, on PostgreSQL `append_categories_added` or `append_categories_updated`.
 */
export const putCategory = transaction(
  'putCategory',
  'row locks',
  function* ({ id, name, by }: Category & Authored) {
    yield* step(lockAdditions, {});
    const [before] = yield* step(lockName, { id });
    if (before?.name === name) return { isNew: false };
    if (before === undefined) {
      const [total] = yield* step(countCategories, {});
      if ((total?.count ?? 0n) >= categoriesMax) throw new AppError('limit_reached', tooMany);
      yield* step(insertCategory, { id, name });
    } else yield* step(renameCategory, { id, name });
    const isNew = before === undefined;
    const details = { before: isNew ? null : { name: before.name }, after: { name } };
    yield* addAuditEntry(by, 'category.changed', String(id), details);
    return { isNew };
  },
);

/** Deletes a category. The trigger `categories_deleted` records the event, on PostgreSQL `append_categories_deleted`. */
export const removeCategory = transaction(
  'removeCategory',
  'row locks',
  function* ({ id, by }: { id: bigint } & Authored) {
    const [deleted] = yield* step(deleteCategory, { id });
    if (deleted === undefined) throw notFound('categoryId', 'category');
    yield* addAuditEntry(by, 'category.deleted', String(id), { before: { name: deleted.name } });
  },
);

export type Categories = ReturnType<typeof createCategories>;

/** The categories of a store. Methods also throw the errors of the database (database.ts). */
export function createCategories(database: Database, clock: Clock) {
  const byOf = (actor: Actor): Authorship => ({ actor, nowMs: clock() });

  return {
    /** Returns at most `limit` categories, sorted by id, from `firstId` on. Null starts with the first category. */
    async list(limit: number, firstId: bigint | null): Promise<Page<Category>> {
      const range = { firstId: firstId ?? int64Min, count: BigInt(limit) + 1n };
      return toPage(await database.read(selectCategories, range), limit, (row) => row);
    },

    /** Returns the categories that exist of these ids, at most those of one page of animals, unordered. */
    find: (ids: readonly bigint[]): Promise<readonly Category[]> =>
      database.read(selectCategoriesOf, { ids: `[${ids.join()}]` }),

    /** Creates or renames a category. Throws `limit_reached` if a new category would be one more than `categoriesMax`. */
    put: ({ id, name }: Category, actor: Actor, accountId?: bigint) =>
      database.transact(putCategory, { id, name, by: byOf(actor) }, accountId),

    /** Deletes a category. Its animals keep their `categoryId`. Throws `not_found`. */
    remove: (id: bigint, actor: Actor, accountId?: bigint) =>
      database.transact(removeCategory, { id, by: byOf(actor) }, accountId),
  };
}
