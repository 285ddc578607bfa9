import { computeEtag } from '../../../etag.ts';
import { PetPatchSchema, PetSchema, writePet } from '../../../pets/pet.ts';
import { defineOperation } from '../../operation.ts';
import { jsonTypes } from '../../request/body.ts';
import { readIfMatch } from '../../request/conditions.ts';
import { rex } from './examples.ts';
import { editRefusals, petId } from './pet-id.ts';

/** `PATCH /pets/{petId}`: changes an animal (contract section 10). */
export const updatePet = defineOperation({
  id: 'updatePet',
  method: 'PATCH',
  path: '/pets/{petId}',
  scope: 'pets:manage',
  summary: 'Change an animal',
  description:
    'Changes the fields that the body names and leaves the others (JSON Merge Patch, RFC 7396). `null` is refused, because no field can be removed. While an order owns the animal, only the order changes its `status`. With `If-Match`, the animal is changed only if it still has one of these `ETag`s. The change is on disk before the answer is sent.',
  params: petId.schema,
  body: PetPatchSchema,
  bodyTypes: jsonTypes.mergePatch,
  bodyExamples: {
    status: { summary: 'One field', value: { status: 'sold' } },
    all: { summary: 'All fields', value: { name: 'Rex', categoryId: 1, status: 'available' } },
  },
  isConditional: true,
  answers: {
    200: {
      description: 'The animal as it is now.',
      body: PetSchema,
      headers: ['ETag'],
      examples: { changed: { summary: 'The changed animal', value: { ...rex, status: 'sold' } } },
    },
  },
  failures: { not_found: petId.unknown, ...editRefusals },

  async handle({ params, body, headers }, { catalogue }) {
    const tags = readIfMatch(headers);
    const text = writePet(await catalogue.change(petId.read(params), body, tags));
    return { status: 200, text, headers: { etag: computeEtag(text) } };
  },
});
