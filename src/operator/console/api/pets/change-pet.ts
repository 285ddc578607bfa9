import Type from 'typebox';
import { PetPatchSchema, PetStatusSchema } from '../../../../pets/pet.ts';
import { defineConsoleOperation } from '../../operation.ts';
import { int64Text, readId, readInt64 } from '../fields.ts';

/**
 * Changes an animal. `tag` is the entity tag that the page has loaded. If the animal has changed since, the request is
 * refused.
 */
export const changePet = defineConsoleOperation({
  method: 'PATCH',
  path: '/pets/{petId}',
  body: Type.Object({
    tag: Type.String({ minLength: 1, maxLength: 100 }),
    name: PetPatchSchema.properties.name,
    categoryId: Type.Optional(int64Text()),
    status: Type.Optional(PetStatusSchema),
  }),

  async handle({ params, body: { tag, categoryId, ...fields }, signedIn }, { actAs }) {
    const id = readId(params['petId'], 'animal');
    const { name, status } = fields;
    const patch = {
      ...(name !== undefined && { name }),
      ...(categoryId !== undefined && { categoryId: readInt64(categoryId, 'categoryId') }),
      ...(status !== undefined && { status }),
    };
    return await actAs(signedIn).changePet(id, patch, [tag]);
  },
});
