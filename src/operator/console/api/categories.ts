import { NewCategorySchema } from '../../../categories/categories.ts';
import { operation } from '../operation.ts';
import { int64Filter, pageRows, readId } from './fields.ts';

const path = '/categories/{categoryId}';

export const categoryOperations = [
  /** Returns a page of the categories, in ascending order of the ids. `before` is the first id of the page. */
  operation('GET /categories', { before: int64Filter }, ({ before = null }, { categories }) =>
    categories.list(pageRows, before),
  ),

  /** Creates or changes the name of a category. */
  operation(`PUT ${path}`, NewCategorySchema.properties, async ({ categoryId, name }, { changes }) => {
    const id = readId(categoryId, 'category');
    const { isNew } = await changes.putCategory({ id, name });
    return { id, name, isNew };
  }),

  /** Deletes the name of a category. Animals keep their `categoryId`. */
  operation(`DELETE ${path}`, {}, async ({ categoryId }, { changes }) =>
    changes.deleteCategory(readId(categoryId, 'category')),
  ),
];
