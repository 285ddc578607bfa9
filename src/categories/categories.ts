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
  renameCategory,
  selectCategories,
} from './category-rows.ts';

/** A page of categories, and where the next one begins. */
export interface CategoryPage {
  /** In the order of their ids. */
  readonly categories: readonly Category[];
  /** Null on the last page. */
  readonly nextId: bigint | null;
}

/** The categories of a store (contract section 11). Fails as the database does (database.ts). */
export interface Categories {
  /** A page of at most `limit` categories from an id on; null begins with the first. */
  list(limit: number, firstId: bigint | null): Soon<CategoryPage>;
  /** Names a category, and gives whether it is new. Throws `limit_reached` where there are as many as may be. */
  put(category: Category): Promise<{ readonly isNew: boolean }>;
  /** Deletes a category; its animals keep their `categoryId`. Throws `not_found`. */
  remove(id: bigint): Promise<void>;
}

/** Names a category, which it adds if it is not there. Only one adds at a time, so that what is counted stays so. */
export const putCategory = defineWork(
  import.meta.url,
  'putCategory',
  function* (category: Category): Work<{ isNew: boolean }> {
    yield* step(lockAdditions, {});
    const renamed = yield* step(renameCategory, category);
    if (renamed.length > 0) return { isNew: false };
    const [total] = yield* step(countCategories, {});
    if ((total?.count ?? 0n) >= categoriesMax)
      throw new AppError(
        'limit_reached',
        `there are ${categoriesMax} categories, which is all that there may be`,
      );
    yield* step(insertCategory, category);
    return { isNew: true };
  },
  'row locks',
);

/** The categories of a database. */
export function createCategories(database: Database): Categories {
  return {
    list: (limit, firstId) =>
      after(
        database.read(selectCategories, { firstId: firstId ?? int64Min, count: BigInt(limit) + 1n }),
        (rows) => ({ categories: rows.slice(0, limit), nextId: rows[limit]?.id ?? null }),
      ),

    async put({ id, name }) {
      const renamed = await database.run(renameCategory, { id, name });
      return renamed.length > 0 ? { isNew: false } : database.transact(putCategory, { id, name });
    },

    async remove(id) {
      const deleted = await database.run(deleteCategory, { id });
      if (deleted.length === 0)
        throw new AppError('not_found', 'categoryId: there is no category with this identifier');
    },
  };
}
