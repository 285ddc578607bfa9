import { defineOperation } from '../../operation.ts';
import { CategoryParams, readCategoryId } from './category-id.ts';

/** `DELETE /categories/{categoryId}`: deletes the name of a category (contract section 11). */
export const deleteCategory = defineOperation({
  id: 'deleteCategory',
  method: 'DELETE',
  path: '/categories/{categoryId}',
  tag: 'categories',
  scope: 'pets:manage',
  stability: 'beta',
  summary: 'Delete a category',
  description: 'Removes the name of a category. Animals keep their `categoryId`.',
  params: CategoryParams,
  answers: { 204: { description: 'The category is deleted.' } },
  failures: ['not_found'],

  async handle({ params, caller }, { categories }) {
    await categories.remove(readCategoryId(params), { kind: 'key', name: caller.keyId });
    return { status: 204 };
  },
});
