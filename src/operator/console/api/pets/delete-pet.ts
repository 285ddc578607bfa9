import { defineConsoleOperation } from '../../operation.ts';
import { readId } from '../fields.ts';

/** Deletes an animal. The request is refused if an order owns the animal. */
export const deletePet = defineConsoleOperation({
  method: 'DELETE',
  path: '/pets/{petId}',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).deletePet(readId(params['petId'], 'animal'));
  },
});
