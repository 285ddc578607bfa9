import Type from 'typebox';
import { AppError } from '../../../errors.ts';
import { parseCanonicalInt64 } from '../../../int64.ts';
import { int64Field } from '../../../schema.ts';

/** The path parameter of an animal. */
export const PetParams = Type.Object({
  petId: { ...int64Field('Identifier of the animal.'), examples: [42] },
});

/** The animal id in the path. Throws `not_found` if it is not a canonical int64, because no animal has it. */
export function readPetId({ petId = '' }: Readonly<Record<string, string | undefined>>): bigint {
  const id = parseCanonicalInt64(petId);
  if (id === null) throw petNotFound();
  return id;
}

/** The error if an animal does not exist. */
export function petNotFound(): AppError {
  return new AppError('not_found', 'petId: there is no animal with this identifier');
}
