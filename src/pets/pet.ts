import Type, { type Static } from 'typebox';
import { compileObject, enumField, int64Field, nameField } from '../schema.ts';

/** Interface section 2, PetStatus. */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** One of `petStatuses`. */
export type PetStatus = (typeof petStatuses)[number];

/** Interface section 2, PetStatus, as a schema; case counts. */
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

/** What a change of an animal may name (contract section 10): a field that is left out stays as it is. */
export const PetPatchSchema = Type.Object({
  name: Type.Optional(NewPetSchema.properties.name),
  categoryId: Type.Optional(NewPetSchema.properties.categoryId),
  status: Type.Optional(PetStatusSchema),
});

/** An animal to be added, as it was sent: `status` may be left out. */
export type NewPet = Static<typeof NewPetSchema>;

/** A change of an animal, as it was sent. */
export type PetPatch = Static<typeof PetPatchSchema>;

/** An animal as it is stored: an omitted status has become `available`. */
export type Pet = Required<Static<typeof PetSchema>>;

const rules = compileObject(NewPetSchema);
const changeRules = compileObject(Type.Object({ id: PetSchema.properties.id, ...PetPatchSchema.properties }));

/** Whether a value is a NewPet; its int64 must be bigints. Fields that NewPet does not name are ignored. */
export const isNewPet = rules.accepts;

/** Every rule that a value breaks on its way to be a NewPet, at most one a field; none if it is one. */
export const findViolations = rules.findViolations;

/** Whether a value is a change of an animal that it names by its id, as a row of a file has it. */
export const isIdentifiedPatch = changeRules.accepts;

/** Every rule that a value breaks on its way to be such a change. */
export const findPatchViolations = changeRules.findViolations;

/** An animal to be stored: the named fields alone, with the default of an omitted status (contract section 2). */
export function completeNewPet({ name, categoryId, status = 'available' }: NewPet): Omit<Pet, 'id'> {
  return { name, categoryId, status };
}
