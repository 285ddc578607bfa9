import Type from 'typebox';
import { CategorySchema } from '../../../categories/category.ts';
import { after } from '../../../soon.ts';
import { defineOperation } from '../../operation.ts';
import { cursorField, defaultLimit, invalidCursor, limitField, limitMax } from '../page-query.ts';
import { cats, dogs } from './category-id.ts';

const cursorRule = 'must be copied from the Link of a page of categories';

const ListCategoriesQuery = Type.Object({
  limit: Type.Optional(limitField('categories')),
  cursor: Type.Optional(cursorField(cursorRule, 'BAAAAAAAAAAqrK1CcODeb8rGtA')),
});

/** `GET /categories`: returns a page of categories (contract section 11). */
export const listCategories = defineOperation({
  id: 'listCategories',
  method: 'GET',
  path: '/categories',
  tag: 'categories',
  scope: 'pets:read',
  stability: 'beta',
  summary: 'List categories',
  description:
    'Returns a page of the categories sorted by number. Follow the `Link` with `rel="next"` until there is none. An animal may have a `categoryId` that is not listed here. HEAD returns the headers only.',
  query: ListCategoriesQuery,
  answers: {
    200: {
      description: 'A page of categories.',
      body: Type.Array(CategorySchema, { maxItems: limitMax }),
      headers: ['Link'],
      examples: {
        page: { summary: 'Two categories', value: [dogs, cats] },
        empty: { summary: 'No category', value: [] },
      },
    },
  },

  handle({ query: { limit = defaultLimit, cursor } }, { categories, cursors, baseUrl }) {
    const firstId = cursor === undefined ? null : cursors.read(cursor, '/categories');
    if (cursor !== undefined && firstId === null) throw invalidCursor(cursorRule);
    return after(categories.list(limit, firstId), (page) => {
      if (page.nextId === null) return { status: 200, body: page.categories };
      const next = cursors.write('/categories', page.nextId);
      const link = `<${baseUrl}/categories?limit=${limit}&cursor=${next}>; rel="next"`;
      return { status: 200, body: page.categories, headers: { link } };
    });
  },
});
