import Type from 'typebox';
import { AppError } from '../../../errors.ts';
import { parseCanonicalInt64 } from '../../../int64.ts';
import { int64Field } from '../../../schema.ts';

export const PetParams = Type.Object({
  petId: { ...int64Field('Identifier of the animal.'), examples: [42] },
});

/**
 * Returns the animal id in the path. Throws `not_found` if it is not a canonical int64, because no animal can have such
 * an id.
 */
export function readPetId({ petId = '' }: Readonly<Record<string, string | undefined>>): bigint {
  const id = parseCanonicalInt64(petId);
  if (id === null) throw petNotFound();
  return id;
}

export function petNotFound(): AppError {
  return new AppError('not_found', 'petId: there is no animal with this identifier');
}
