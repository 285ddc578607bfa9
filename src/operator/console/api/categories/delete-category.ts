import { defineConsoleOperation } from '../../operation.ts';
import { readId } from '../fields.ts';

/** Deletes the name of a category. Animals keep their `categoryId`. */
export const deleteCategory = defineConsoleOperation({
  method: 'DELETE',
  path: '/categories/{categoryId}',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).deleteCategory(readId(params['categoryId'], 'category'));
  },
});
