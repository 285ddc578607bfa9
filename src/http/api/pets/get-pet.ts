import { PetSchema } from '../../../pets/pet.ts';
import { defineOperation } from '../../operation.ts';
import { rex } from './examples.ts';
import { petId, petNotFound } from './pet-id.ts';

/** Unix time in ms from which the operation is removed and answers 410 (interface section 4.3). */
export const getPetRemovedAtMs = Date.UTC(2030, 11, 5);

/** `GET /pets/{petId}`: returns an animal (interface section 4.3, contract section 4). */
export const getPet = defineOperation({
  id: 'getPet',
  method: 'GET',
  path: '/pets/{petId}',
  scope: 'pets:read',
  stability: 'stable',
  summary: 'Get an animal',
  description:
    'Returns one animal. Deprecated: it is removed on 5 December 2030 and answers 410 from then on. Use `GET /pets` with the `status` filter instead. An identifier that is not a canonical decimal int64 is not found. HEAD returns the headers only.',
  // Interface section 4.3 gives only the date of the removal. docs/decisions/http.md explains the choice of `sinceMs`.
  deprecation: {
    sinceMs: Date.UTC(2025, 11, 5),
    removedAtMs: getPetRemovedAtMs,
    successor: '/pets',
  },
  params: petId.schema,
  answers: {
    200: {
      description: 'The requested animal.',
      body: PetSchema,
      examples: { animal: { summary: 'An animal', value: rex } },
    },
  },
  failures: { not_found: petId.unknown },
  isCached: true,

  async handle({ params }, { catalogue }) {
    const pet = await catalogue.get(petId.read(params));
    if (pet === null) throw petNotFound();
    return { status: 200, body: pet };
  },
});
