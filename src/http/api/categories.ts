import { CategorySchema, NewCategorySchema } from '../../categories/categories.ts';
import { defineOperation, type Operation } from '../operation.ts';
import { answer, defineIdParameter, definePages, example, openPage, reply } from './parts.ts';

export const dogs = { id: 3, name: 'Dogs' };
const cats = { id: 4, name: 'Cats' };
const renamed = example('The category', dogs);
const added = example('The new category', dogs);

const categoryId = defineIdParameter('categoryId', 'category', 3, 'The `categoryId` of its animals.');

export const categoryOperations: readonly Operation[] = [
  defineOperation('listCategories', 'GET /categories', 'pets:read', {
    guide: 'changing-animals',
    summary: 'List categories',
    description:
      'Returns a page of the categories sorted by number. Follow the `Link` with `rel="next"` until there is none. An animal may have a `categoryId` that is not listed here. HEAD returns the headers only.',
    ...definePages('categories', {
      item: CategorySchema,
      cursor: 'BAAAAAAAAAAqrK1CcODeb8rGtA',
      examples: { page: example('Two categories', [dogs, cats]), empty: example('No category', []) },
    }),

    async handle({ query }, services) {
      const page = openPage({ path: '/categories' }, query, services);
      const { items, next } = await services.categories.list(page.limit, page.start);
      return { status: 200, body: items, headers: page.linkTo(next) };
    },
  }),

  defineOperation('putCategory', 'PUT /categories/{categoryId}', 'pets:manage', {
    guide: 'changing-animals',
    summary: 'Name a category',
    description:
      'Sets the name of a category, which is a number that animals have as `categoryId`. A store has at most 10,000 categories.',
    params: categoryId,
    body: NewCategorySchema,
    bodyExamples: { dogs: example('A name', { name: 'Dogs' }) },
    answers: {
      ...answer(200, 'The category has this name now.', CategorySchema, { renamed }),
      ...answer(201, 'The category is new.', CategorySchema, { added }),
    },
    failures: { limit_reached: 'there are 10000 categories, the most that a store may have' },

    async handle({ params, body: { name }, caller }, { categories }) {
      const category = { id: categoryId.read(params), name };
      const { isNew } = await categories.put(category, { kind: 'key', name: caller.keyId }, caller.accountId);
      return { status: isNew ? 201 : 200, body: category };
    },
  }),

  defineOperation('deleteCategory', 'DELETE /categories/{categoryId}', 'pets:manage', {
    guide: 'changing-animals',
    summary: 'Delete a category',
    isDrastic: true,
    description: 'Removes the name of a category. Animals keep their `categoryId`.',
    params: categoryId,
    answers: answer(204, 'The category is deleted.'),

    handle: async ({ params, caller }, { categories }) =>
      reply(
        204,
        categories.remove(categoryId.read(params), { kind: 'key', name: caller.keyId }, caller.accountId),
      ),
  }),
];
