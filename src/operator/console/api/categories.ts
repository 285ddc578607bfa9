import Type from 'typebox';
import { NewCategorySchema } from '../../../categories/categories.ts';
import { defineConsoleOperation } from '../operation.ts';
import { beforeField, pageRows, readId } from './fields.ts';

/** Returns a page of the categories, in ascending order of the ids. `before` is the first id of the page. */
const listCategories = defineConsoleOperation({
  method: 'GET',
  path: '/categories',
  query: Type.Object({ before: beforeField }),

  handle: ({ query: { before = null } }, { categories }) => categories.list(pageRows, before),
});

/** Creates or changes the name of a category. */
const putCategory = defineConsoleOperation({
  method: 'PUT',
  path: '/categories/{categoryId}',
  body: NewCategorySchema,

  async handle({ params, body: { name }, changes }) {
    const id = readId(params['categoryId'], 'category');
    const { isNew } = await changes.putCategory({ id, name });
    return { id, name, isNew };
  },
});

/** Deletes the name of a category. Animals keep their `categoryId`. */
const deleteCategory = defineConsoleOperation({
  method: 'DELETE',
  path: '/categories/{categoryId}',
  handle: async ({ params, changes }) => changes.deleteCategory(readId(params['categoryId'], 'category')),
});

export const categoryOperations = [listCategories, putCategory, deleteCategory];
