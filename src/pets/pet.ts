import Type, { type Static, type TOptional, type TSchema, type TUnsafe } from 'typebox';
import { enumField, int64Field, namedObject, nameField, nullable } from '../schema.ts';
import { compileObject } from '../violations.ts';

/** The statuses of an animal (interface section 2). */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** One of `petStatuses`. */
export type PetStatus = (typeof petStatuses)[number];

/** `PetStatus` as a schema. It is case-sensitive. */
export const PetStatusSchema = enumField(petStatuses, 'Availability.', {
  title: 'PetStatus',
  about: 'Availability of an animal.',
});

/**
 * The fields of an animal that a client sets, in the documented order. Statements, import and export, the command line,
 * the console, `/openapi.json` and the types of the client follow from this declaration. The table and its triggers are
 * in the migrations and in `storage/tables.ts`.
 */
const schemas = {
  name: nameField("The animal's name.", 'Rex'),
  categoryId: int64Field('Identifier of the category the animal belongs to.'),
  status: Type.Optional(PetStatusSchema),
};

/** The name of a field that a client sets. */
export type PetField = keyof typeof schemas;

/**
 * What a new animal gets in an optional field that the client leaves out. An animal may lack an optional field without a
 * default; a change to null removes it.
 */
export const petDefaults = { status: 'available' } as const;

/** The column of each field in the table `pets`. */
export const petColumns = {
  name: 'name',
  categoryId: 'category_id',
  status: 'status',
} as const satisfies Readonly<Record<PetField, string>>;

/** The fields that a client sets, in the documented order. */
export const petFields = Object.keys(schemas) as readonly PetField[];

/** An example of each field. */
export const examplePet = { name: 'Rex', categoryId: 1, status: 'available' } satisfies Record<
  PetField,
  unknown
>;

/** The request body that adds an animal (interface section 2), with the bounds of its fields (contract section 2). */
export const NewPetSchema = namedObject('NewPet', 'A new animal.', schemas);

/** An animal, as responses and events show it: a NewPet and its `id` (interface section 2). */
export const PetSchema = namedObject('Pet', 'An animal.', {
  id: int64Field('Unique identifier assigned by the service on creation.'),
  ...schemas,
});

/** The fields of an animal, each of which may be absent. */
export const somePetFields = Type.Partial(NewPetSchema).properties;

type OptionalField = { [F in PetField]: object extends Pick<NewPet, F> ? F : never }[PetField];

/** An optional field that an animal may lack. */
type RemovableField = Exclude<OptionalField, keyof typeof petDefaults>;

/** The fields that an animal may lack, in the documented order. */
export const removablePetFields = petFields.filter(
  (field): field is RemovableField =>
    !NewPetSchema.required.some((one) => one === field) && !(field in petDefaults),
);

/**
 * What a person needs to enter a field: `label` is its name in words, `choices` its values if they are a fixed list. An animal
 * may lack the field if `isRemovable`.
 */
export type PetInput = (typeof petInputs)[number];

/** The inputs of a form or of a command that changes an animal, in the documented order. */
export const petInputs = petFields.map((field) => {
  const schema = schemas[field] as { readonly format?: string; readonly enum?: readonly string[] };
  const words = field.replace(/Id$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return {
    field,
    label: words,
    isInt64: schema.format === 'int64',
    choices: schema.enum ?? null,
    isRemovable: (removablePetFields as readonly PetField[]).includes(field),
  };
});

type PatchFields = {
  [F in PetField]: TOptional<TUnsafe<NonNullable<NewPet[F]> | (F extends RemovableField ? null : never)>>;
};

const nullableFields = removablePetFields.map((field) => {
  const schema: TSchema & { readonly description?: string } = somePetFields[field];
  const description = `${schema.description} Null removes it.`;
  return [field, Type.Optional(nullable({ ...schema, description }))];
});

/** A change of an animal (contract section 10). */
export const PetPatchSchema = namedObject(
  'PetPatch',
  'A change of an animal. Absent fields stay as they are.',
  { ...somePetFields, ...Object.fromEntries(nullableFields) } as PatchFields,
);

/** A new animal as the client sent it. `status` may be absent. */
export type NewPet = Static<typeof NewPetSchema>;

/** A change of an animal as the client sent it. */
export type PetPatch = Static<typeof PetPatchSchema>;

/** A stored animal. It always has a status. */
export type Pet = Static<typeof PetSchema> & { readonly status: PetStatus };

/** The rules of a NewPet. */
export const newPetRules = compileObject(NewPetSchema);

/** The rules of a change, in which null removes a field. */
export const petPatchRules = compileObject(PetPatchSchema);

/** The rules of a change with the `id` of its animal, as in a row of an import file, which removes no field. */
export const petChangeRules = compileObject(Type.Object({ id: PetSchema.properties.id, ...somePetFields }));
