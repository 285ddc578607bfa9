import Type from 'typebox';
import { defineConsoleOperation } from '../../operation.ts';
import { beforeField, pageRows } from '../fields.ts';

/** A page of the categories, by number. `before` is the first number of the page. */
export const listCategories = defineConsoleOperation({
  method: 'GET',
  path: '/categories',
  query: Type.Object({ before: beforeField }),

  async handle({ query: { before = null } }, { categories }) {
    const page = await categories.list(pageRows, before);
    return { items: page.categories, next: page.nextId };
  },
});
