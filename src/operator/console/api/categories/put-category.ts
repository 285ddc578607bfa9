import { NewCategorySchema } from '../../../../categories/category.ts';
import { defineConsoleOperation } from '../../operation.ts';
import { readId } from '../fields.ts';

/** Creates or changes the name of a category. */
export const putCategory = defineConsoleOperation({
  method: 'PUT',
  path: '/categories/{categoryId}',
  body: NewCategorySchema,

  async handle({ params, body: { name }, signedIn }, { actAs }) {
    const id = readId(params['categoryId'], 'category');
    const { isNew } = await actAs(signedIn).putCategory({ id, name });
    return { id, name, isNew };
  },
});
