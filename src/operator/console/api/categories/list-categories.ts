import Type from 'typebox';
import { defineConsoleOperation } from '../../operation.ts';
import { beforeField, pageRows } from '../fields.ts';

/** Returns a page of the categories, in ascending order of the ids. `before` is the first id of the page. */
export const listCategories = defineConsoleOperation({
  method: 'GET',
  path: '/categories',
  query: Type.Object({ before: beforeField }),

  async handle({ query: { before = null } }, { categories }) {
    const page = await categories.list(pageRows, before);
    return { items: page.categories, next: page.nextId };
  },
});
