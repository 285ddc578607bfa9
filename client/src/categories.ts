import type { Category, ListCategoriesQuery, NewCategory } from './generated.ts';
import type { CallOperation, WithResponse } from './operation-call.ts';
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

export function createCategories(call: CallOperation, send: Transport): Categories {
  return {
    ...createLists<'listCategories', CategoriesListOptions>(send, 'listCategories'),
    put: (categoryId, category, options) => call('putCategory', { id: categoryId, body: category }, options),
    delete: (categoryId, options) => call('deleteCategory', { id: categoryId }, options),
  };
}
