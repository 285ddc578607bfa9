import type { Actor, Authorship } from '../audit/audit-entry.ts';
import { addAuditEntry } from '../audit/audit-log.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { int64Min } from '../int64.ts';
import { type Page, toPage } from '../page.ts';
import { type Database, defineTransaction, type Steps, step } from '../storage/database.ts';
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

/**
 * The categories of a store (contract section 11). Each change and its row of the audit log are one transaction.
 * Methods also throw the errors of the database (database.ts).
 */
export interface Categories {
  /** Returns at most `limit` categories, sorted by id, with ids from `firstId` on. Null starts with the first category. */
  list(limit: number, firstId: bigint | null): Promise<Page<Category>>;
  /**
   * Returns the categories with these ids, unordered. Leaves out ids that have no category. Takes at most the ids of
   * one page of animals.
   */
  find(ids: readonly bigint[]): Promise<readonly Category[]>;
  /** Creates or renames a category. Throws `limit_reached` if a new category would be one more than `categoriesMax`. */
  put(category: Category, actor: Actor): Promise<{ readonly isNew: boolean }>;
  /** Deletes a category. Its animals keep their `categoryId`. Throws `not_found`. */
  remove(id: bigint, actor: Actor): Promise<void>;
}

interface PutCategory extends Category {
  readonly by: Authorship;
}

/**
 * Creates or renames a category. If the name is the same as before, changes nothing. Only one such transaction runs at
 * a time, so that the number of categories cannot exceed `categoriesMax`.
 */
export const putCategory = defineTransaction(
  'putCategory',
  function* ({ id, name, by }: PutCategory): Steps<{ isNew: boolean }> {
    yield* step(lockAdditions, {});
    const [before] = yield* step(lockName, { id });
    if (before?.name === name) return { isNew: false };
    if (before === undefined) {
      yield* requireRoom();
      yield* step(insertCategory, { id, name });
    } else yield* step(renameCategory, { id, name });
    yield* addAuditEntry(by, {
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

function* requireRoom(): Steps<void> {
  const [total] = yield* step(countCategories, {});
  if ((total?.count ?? 0n) < categoriesMax) return;
  throw new AppError(
    'limit_reached',
    `there are ${categoriesMax} categories, the most that a store may have`,
  );
}

interface RemoveCategory {
  readonly id: bigint;
  readonly by: Authorship;
}

export const removeCategory = defineTransaction(
  'removeCategory',
  function* ({ id, by }: RemoveCategory): Steps<void> {
    const [deleted] = yield* step(deleteCategory, { id });
    if (deleted === undefined)
      throw new AppError('not_found', 'categoryId: there is no category with this identifier');
    yield* addAuditEntry(by, {
      action: 'category.deleted',
      subject: String(id),
      accountId: null,
      before: { name: deleted.name },
      after: null,
    });
  },
  'row locks',
);

export function createCategories(database: Database, clock: Clock): Categories {
  const byOf = (actor: Actor): Authorship => ({ actor, nowMs: clock() });

  return {
    async list(limit, firstId) {
      const rows = await database.read(selectCategories, {
        firstId: firstId ?? int64Min,
        count: BigInt(limit) + 1n,
      });
      return toPage(rows, limit, (row) => row);
    },

    find: (ids) => database.read(selectCategoriesOf, { ids: `[${ids.join()}]` }),

    put: ({ id, name }, actor) => database.transact(putCategory, { id, name, by: byOf(actor) }),

    remove: (id, actor) => database.transact(removeCategory, { id, by: byOf(actor) }),
  };
}
