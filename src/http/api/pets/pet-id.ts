import Type from 'typebox';
import { AppError } from '../../../errors.ts';
import { parseCanonicalInt64 } from '../../../int64.ts';
import { int64Field } from '../../../schema.ts';

/** The parameters of the address of one animal. */
export const PetParams = Type.Object({
  petId: { ...int64Field('Identifier of the animal.'), examples: [42] },
});

/** The identifier in the address of an animal. Throws `not_found` for what is no canonical int64: it names no animal. */
export function readPetId({ petId = '' }: Readonly<Record<string, string | undefined>>): bigint {
  const id = parseCanonicalInt64(petId);
  if (id === null) throw petNotFound();
  return id;
}

/** The failure of an operation on an animal that is not there. */
export function petNotFound(): AppError {
  return new AppError('not_found', 'petId: there is no animal with this identifier');
}
