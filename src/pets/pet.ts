import Type, { type Static } from 'typebox';
import { compileObject, enumField, int64Field, nameField } from '../schema.ts';

/** The statuses of an animal (interface section 2). */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** One of `petStatuses`. */
export type PetStatus = (typeof petStatuses)[number];

/** `PetStatus` as a schema. It is case-sensitive. */
export const PetStatusSchema = enumField(petStatuses, 'Availability.');

/** The request body that adds an animal (interface section 2), with the bounds of its fields (contract section 2). */
export const NewPetSchema = Type.Object({
  name: nameField("The animal's name.", 'Rex'),
  categoryId: int64Field('Identifier of the category the animal belongs to.'),
  status: Type.Optional(PetStatusSchema),
});

/** An animal, as responses and events show it: a NewPet and its `id` (interface section 2). */
export const PetSchema = Type.Object({
  id: int64Field('Unique identifier assigned by the service on creation.'),
  ...NewPetSchema.properties,
});

/** A change of an animal (contract section 10). An absent field stays unchanged. */
export const PetPatchSchema = Type.Object({
  name: Type.Optional(NewPetSchema.properties.name),
  categoryId: Type.Optional(NewPetSchema.properties.categoryId),
  status: Type.Optional(PetStatusSchema),
});

/** A new animal as the client sent it. `status` may be absent. */
export type NewPet = Static<typeof NewPetSchema>;

/** A change of an animal as the client sent it. */
export type PetPatch = Static<typeof PetPatchSchema>;

/** A stored animal. It always has a status. */
export type Pet = Required<Static<typeof PetSchema>>;

const rules = compileObject(NewPetSchema);
const changeRules = compileObject(Type.Object({ id: PetSchema.properties.id, ...PetPatchSchema.properties }));

/** Returns true if a value is a NewPet. Each int64 must be a bigint. Unknown fields are ignored. */
export const isNewPet = rules.accepts;

/**
 * Returns the rules of a NewPet that a value breaks, at most one per field. Returns an empty array for a valid NewPet.
 */
export const findViolations = rules.findViolations;

/** Returns true if a value is a PetPatch with the `id` of its animal, as in a row of an import file. */
export const isIdentifiedPatch = changeRules.accepts;

/** Like `findViolations`, but for a PetPatch with an `id`. */
export const findPatchViolations = changeRules.findViolations;

/**
 * Returns a new animal for storage. It has only the known fields. The default status is `available` (contract section
 * 2).
 */
export function completeNewPet({ name, categoryId, status = 'available' }: NewPet): Omit<Pet, 'id'> {
  return { name, categoryId, status };
}
