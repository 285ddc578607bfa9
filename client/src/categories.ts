import { attachResponse, isDeleted, readCallOptions, type WithResponse, writeBody } from './call.ts';
import { type Category, type ListCategoriesQuery, type NewCategory, operations } from './generated.ts';
import { toInt64 } from './int64.ts';
import { createLists, type Page } from './page.ts';
import type { CallOptions, Transport } from './transport.ts';

export type CategoryAnswer = WithResponse<Category>;

export interface CategoriesListOptions extends ListCategoriesQuery, CallOptions {}

export interface CategoriesListAllOptions extends Omit<CategoriesListOptions, 'cursor'> {}

/** The names of categories. A name is a label for a `categoryId`. A method that fails rejects with AnimalStoreError. */
export interface Categories {
  /** Returns one page, in ascending order of the ids. The default `limit` is 20. */
  list(options?: CategoriesListOptions): Promise<Page<Category>>;
  /** Yields all categories. Requests one page after the other. */
  listAll(options?: CategoriesListAllOptions): AsyncGenerator<Category, void, undefined>;
  /**
   * Creates or changes the name of a category. `response.status` is 201 if the category had no name. Needs
   * `pets:manage`.
   */
  put(categoryId: bigint | number, category: NewCategory, options?: CallOptions): Promise<CategoryAnswer>;
  /** Deletes the name. Animals keep their `categoryId`. Needs `pets:manage`. */
  delete(categoryId: bigint | number, options?: CallOptions): Promise<void>;
}

export function createCategories(send: Transport): Categories {
  return {
    ...createLists<Category, CategoriesListOptions>(send, 'listCategories', { isItem: isCategory }),

    async put(categoryId, category, options) {
      const { signal } = readCallOptions(options);
      const path = pathOf('putCategory', categoryId);
      const body = writeBody('category', category);
      const call = { operation: 'putCategory', path, body, isExpected: isCategory } as const;
      return attachResponse(await send(call, { signal }));
    },

    async delete(categoryId, options) {
      const { signal } = readCallOptions(options);
      const path = pathOf('deleteCategory', categoryId);
      await send({ operation: 'deleteCategory', path, isExpected: isDeleted }, { signal });
    },
  };
}

function pathOf(operation: 'putCategory' | 'deleteCategory', categoryId: bigint | number): string {
  return operations[operation].path.replace('{categoryId}', String(toInt64('categoryId', categoryId)));
}

function isCategory(value: unknown): value is Category {
  if (typeof value !== 'object' || value === null) return false;
  const { id, name } = value as Record<string, unknown>;
  return typeof id === 'bigint' && typeof name === 'string';
}
