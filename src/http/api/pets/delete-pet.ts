import { defineOperation } from '../../operation.ts';
import { readIfMatch } from '../../request/conditions.ts';
import { editRefusals, petId } from './pet-id.ts';

/** `DELETE /pets/{petId}`: deletes an animal (contract section 10). */
export const deletePet = defineOperation({
  id: 'deletePet',
  method: 'DELETE',
  path: '/pets/{petId}',
  scope: 'pets:manage',
  summary: 'Delete an animal',
  description:
    'Deletes an animal; its identifier is never used again. An animal that an order owns cannot be deleted. With `If-Match`, the animal is deleted only if it still has one of these `ETag`s.',
  params: petId.schema,
  isConditional: true,
  answers: { 204: { description: 'The animal is deleted.' } },
  failures: { not_found: petId.unknown, ...editRefusals },

  async handle({ params, headers }, { catalogue }) {
    const tags = readIfMatch(headers);
    await catalogue.remove(petId.read(params), tags);
    return { status: 204 };
  },
});
