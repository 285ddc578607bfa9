import { defineConsoleOperation } from '../../operation.ts';
import { readId } from '../fields.ts';

/** Deletes the name of a category. Its animals keep their number. */
export const deleteCategory = defineConsoleOperation({
  method: 'DELETE',
  path: '/categories/{categoryId}',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).deleteCategory(readId(params['categoryId'], 'category'));
  },
});
