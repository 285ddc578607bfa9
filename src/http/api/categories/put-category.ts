import { CategorySchema, NewCategorySchema } from '../../../categories/category.ts';
import { defineOperation } from '../../operation.ts';
import { CategoryParams, dogs, readCategoryId } from './category-id.ts';

/** `PUT /categories/{categoryId}`: creates or renames a category (contract section 11). */
export const putCategory = defineOperation({
  id: 'putCategory',
  method: 'PUT',
  path: '/categories/{categoryId}',
  tag: 'categories',
  scope: 'pets:manage',
  stability: 'beta',
  summary: 'Name a category',
  description:
    'Sets the name of a category, which is a number that animals have as `categoryId`. A store has at most 10,000 categories.',
  params: CategoryParams,
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
  failures: ['not_found', 'limit_reached'],

  async handle({ params, body: { name }, caller }, { categories }) {
    const category = { id: readCategoryId(params), name };
    const { isNew } = await categories.put(category, { kind: 'key', name: caller.keyId });
    return { status: isNew ? 201 : 200, body: category };
  },
});
