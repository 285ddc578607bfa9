import type { Act, Actor } from '../audit/act.ts';
import { appendDeed } from '../audit/append-deed.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { int64Min } from '../int64.ts';
import { after, type Soon } from '../soon.ts';
import { type Database, defineWork, step, type Work } from '../storage/database.ts';
import { type Category, categoriesMax } from './category.ts';
import {
  countCategories,
  deleteCategory,
  insertCategory,
  lockAdditions,
  lockName,
  renameCategory,
  selectCategories,
  selectCategoriesOf,
} from './category-rows.ts';

/** A page of categories, and where the next page begins. */
export interface CategoryPage {
  /** In the order of their ids. */
  readonly categories: readonly Category[];
  /** Null on the last page. */
  readonly nextId: bigint | null;
}

/**
 * The categories of a store (contract section 11). Each change is one transaction with its row of the audit log. Throws
 * as the database does (database.ts).
 */
export interface Categories {
  /** A page of at most `limit` categories, starting with `firstId`; null starts with the first category. */
  list(limit: number, firstId: bigint | null): Soon<CategoryPage>;
  /** The categories with these ids; ids without a name are left out. Takes at most one page of ids. */
  find(ids: readonly bigint[]): Soon<readonly Category[]>;
  /** Creates or renames a category. Throws `limit_reached` if there are `categoriesMax` categories. */
  put(category: Category, actor: Actor): Promise<{ readonly isNew: boolean }>;
  /** Deletes a category; its animals keep their `categoryId`. Throws `not_found`. */
  remove(id: bigint, actor: Actor): Promise<void>;
}

interface PutCategory extends Category {
  readonly act: Act;
}

/**
 * Creates or renames a category. Only one transaction does this at a time, so that the count stays exact. The same name
 * again changes nothing.
 */
export const putCategory = defineWork(
  import.meta.url,
  'putCategory',
  function* ({ id, name, act }: PutCategory): Work<{ isNew: boolean }> {
    yield* step(lockAdditions, {});
    const [before] = yield* step(lockName, { id });
    if (before?.name === name) return { isNew: false };
    if (before === undefined) {
      yield* requireRoom();
      yield* step(insertCategory, { id, name });
    } else yield* step(renameCategory, { id, name });
    yield* appendDeed(act, {
      action: 'category.changed',
      subject: String(id),
      accountId: null,
      before: before === undefined ? null : { name: before.name },
      after: { name },
    });
    return { isNew: before === undefined };
  },
  'row locks',
);

function* requireRoom(): Work<void> {
  const [total] = yield* step(countCategories, {});
  if ((total?.count ?? 0n) < categoriesMax) return;
  throw new AppError(
    'limit_reached',
    `there are ${categoriesMax} categories, the most that a store may have`,
  );
}

interface RemoveCategory {
  readonly id: bigint;
  readonly act: Act;
}

/** Deletes a category. Throws `not_found`. */
export const removeCategory = defineWork(
  import.meta.url,
  'removeCategory',
  function* ({ id, act }: RemoveCategory): Work<void> {
    const [deleted] = yield* step(deleteCategory, { id });
    if (deleted === undefined)
      throw new AppError('not_found', 'categoryId: there is no category with this identifier');
    yield* appendDeed(act, {
      action: 'category.deleted',
      subject: String(id),
      accountId: null,
      before: { name: deleted.name },
      after: null,
    });
  },
  'row locks',
);

/** The categories of a database. */
export function createCategories(database: Database, clock: Clock): Categories {
  const actOf = (actor: Actor): Act => ({ actor, nowMs: clock() });

  return {
    list: (limit, firstId) =>
      after(
        database.read(selectCategories, { firstId: firstId ?? int64Min, count: BigInt(limit) + 1n }),
        (rows) => ({ categories: rows.slice(0, limit), nextId: rows[limit]?.id ?? null }),
      ),

    find: (ids) => database.read(selectCategoriesOf, { ids: `[${ids.join()}]` }),

    put: ({ id, name }, actor) => database.transact(putCategory, { id, name, act: actOf(actor) }),

    remove: (id, actor) => database.transact(removeCategory, { id, act: actOf(actor) }),
  };
}
