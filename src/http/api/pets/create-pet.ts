import { NewPetSchema, PetSchema } from '../../../pets/pet.ts';
import { defineOperation } from '../../operation.ts';
import { toOutcome } from '../resource.ts';
import { rex } from './examples.ts';
import { getPetRemovedAtMs } from './get-pet.ts';

/** `POST /pets`: adds an animal (interface section 4.2, contract section 2). */
export const createPet = defineOperation({
  id: 'createPet',
  method: 'POST',
  path: '/pets',
  scope: 'pets:write',
  stability: 'stable',
  summary: 'Add an animal',
  description:
    'Adds an animal and returns it with its new `id`. The animal is on disk before the answer is sent. The default `status` is `available`. Unknown fields are ignored. With an `Idempotency-Key` a retry never adds twice.',
  body: NewPetSchema,
  bodyExamples: {
    complete: { summary: 'All fields', value: { name: 'Rex', categoryId: 1, status: 'available' } },
    least: { summary: 'Required fields', value: { name: 'Rex', categoryId: 1 } },
  },
  isIdempotent: true,
  answers: {
    201: {
      description: 'The animal is added; the answer has its `id`.',
      body: PetSchema,
      headers: ['Location'],
      examples: { added: { summary: 'The new animal', value: rex } },
    },
  },

  async handle({ body, idempotency }, { catalogue, baseUrl, clock }) {
    const locationStart = clock() < getPetRemovedAtMs ? '/pets/' : '/pets?id=';
    if (idempotency !== null)
      return toOutcome(await catalogue.addOnce(body, idempotency, locationStart), baseUrl);
    const pet = await catalogue.add(body);
    return { status: 201, body: pet, headers: { location: `${baseUrl}${locationStart}${pet.id}` } };
  },
});
