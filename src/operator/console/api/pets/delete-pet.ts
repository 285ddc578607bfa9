import { defineConsoleOperation } from '../../operation.ts';
import { readId } from '../fields.ts';

/** Deletes an animal, unless an order owns it. */
export const deletePet = defineConsoleOperation({
  method: 'DELETE',
  path: '/pets/{petId}',

  async handle({ params, signedIn }, { actAs }) {
    await actAs(signedIn).deletePet(readId(params['petId'], 'animal'));
  },
});
