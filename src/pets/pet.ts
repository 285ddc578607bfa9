import Type, { type Static } from 'typebox';
import { compileObject, enumField, int64Field, nameField } from '../schema.ts';

/** Interface section 2, PetStatus. */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** One of `petStatuses`. */
export type PetStatus = (typeof petStatuses)[number];

/** Interface section 2, PetStatus, as a schema. It is case-sensitive. */
export const PetStatusSchema = enumField(petStatuses, 'Availability.');

/** Interface section 2, NewPet, with the bounds of contract section 2. */
export const NewPetSchema = Type.Object({
  name: nameField("The animal's name.", 'Rex'),
  categoryId: int64Field('Identifier of the category the animal belongs to.'),
  status: Type.Optional(PetStatusSchema),
});

/** Interface section 2, Pet: a NewPet plus `id`. */
export const PetSchema = Type.Object({
  id: int64Field('Unique identifier assigned by the service on creation.'),
  ...NewPetSchema.properties,
});

/** A change of an animal (contract section 10). An absent field stays as it is. */
export const PetPatchSchema = Type.Object({
  name: Type.Optional(NewPetSchema.properties.name),
  categoryId: Type.Optional(NewPetSchema.properties.categoryId),
  status: Type.Optional(PetStatusSchema),
});

/** A new animal, as it was sent. `status` may be absent. */
export type NewPet = Static<typeof NewPetSchema>;

/** A change of an animal, as it was sent. */
export type PetPatch = Static<typeof PetPatchSchema>;

/** A stored animal. A missing status has become `available`. */
export type Pet = Required<Static<typeof PetSchema>>;

const rules = compileObject(NewPetSchema);
const changeRules = compileObject(Type.Object({ id: PetSchema.properties.id, ...PetPatchSchema.properties }));

/** Whether a value is a NewPet. Each int64 must be a bigint. Unknown fields are ignored. */
export const isNewPet = rules.accepts;

/** The rules of a NewPet that a value breaks, at most one per field. Empty for a valid NewPet. */
export const findViolations = rules.findViolations;

/** Whether a value is a change of an animal with its id, in the form of a row of a file. */
export const isIdentifiedPatch = changeRules.accepts;

/** The rules of such a change that a value breaks. */
export const findPatchViolations = changeRules.findViolations;

/**
 * Completes a new animal for storage: it has only the known fields, and the default status if none is given (contract
 * section 2).
 */
export function completeNewPet({ name, categoryId, status = 'available' }: NewPet): Omit<Pet, 'id'> {
  return { name, categoryId, status };
}
