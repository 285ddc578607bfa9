import { CategorySchema, NewCategorySchema } from '../../categories/categories.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { definePages, openPage } from './paging.ts';
import { defineIdParameter } from './resource.ts';

/** A category in examples. */
export const dogs = { id: 3, name: 'Dogs' };
const cats = { id: 4, name: 'Cats' };

const categoryId = defineIdParameter('categoryId', 'category', {
  description: 'The `categoryId` of its animals.',
  example: 3,
});

const listCategories = defineOperation({
  id: 'listCategories',
  method: 'GET',
  path: '/categories',
  scope: 'pets:read',
  summary: 'List categories',
  description:
    'Returns a page of the categories sorted by number. Follow the `Link` with `rel="next"` until there is none. An animal may have a `categoryId` that is not listed here. HEAD returns the headers only.',
  ...definePages('categories', {
    item: CategorySchema,
    cursor: 'BAAAAAAAAAAqrK1CcODeb8rGtA',
    examples: {
      page: { summary: 'Two categories', value: [dogs, cats] },
      empty: { summary: 'No category', value: [] },
    },
  }),

  async handle({ query }, services) {
    const page = openPage({ path: '/categories' }, query, services);
    const { items, next } = await services.categories.list(page.limit, page.start);
    return { status: 200, body: items, headers: page.linkTo(next) };
  },
});

const putCategory = defineOperation({
  id: 'putCategory',
  method: 'PUT',
  path: '/categories/{categoryId}',
  scope: 'pets:manage',
  summary: 'Name a category',
  description:
    'Sets the name of a category, which is a number that animals have as `categoryId`. A store has at most 10,000 categories.',
  params: categoryId.schema,
  body: NewCategorySchema,
  bodyExamples: { dogs: { summary: 'A name', value: { name: 'Dogs' } } },
  answers: {
    200: {
      description: 'The category has this name now.',
      body: CategorySchema,
      examples: { renamed: { summary: 'The category', value: dogs } },
    },
    201: {
      description: 'The category is new.',
      body: CategorySchema,
      examples: { added: { summary: 'The new category', value: dogs } },
    },
  },
  failures: {
    not_found: categoryId.unknown,
    limit_reached: 'there are 10000 categories, the most that a store may have',
  },

  async handle({ params, body: { name }, caller }, { categories }) {
    const category = { id: categoryId.read(params), name };
    const { isNew } = await categories.put(category, { kind: 'key', name: caller.keyId });
    return { status: isNew ? 201 : 200, body: category };
  },
});

const deleteCategory = defineOperation({
  id: 'deleteCategory',
  method: 'DELETE',
  path: '/categories/{categoryId}',
  scope: 'pets:manage',
  summary: 'Delete a category',
  description: 'Removes the name of a category. Animals keep their `categoryId`.',
  params: categoryId.schema,
  answers: { 204: { description: 'The category is deleted.' } },
  failures: { not_found: categoryId.unknown },

  async handle({ params, caller }, { categories }) {
    await categories.remove(categoryId.read(params), { kind: 'key', name: caller.keyId });
    return { status: 204 };
  },
});

/** The operations on the names of categories. */
export const categoryOperations: readonly Operation[] = [listCategories, putCategory, deleteCategory];
