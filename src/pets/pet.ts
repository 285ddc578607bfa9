import Type, { type Static, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { int64Max, int64Min, isInt64 } from '../int64.ts';

/** Interface section 2, PetStatus. */
export const petStatuses = ['available', 'pending', 'sold'] as const;

/** One of `petStatuses`. */
export type PetStatus = (typeof petStatuses)[number];

/** Interface section 2, PetStatus, as a schema; case counts. */
export const PetStatusSchema = Type.Unsafe<PetStatus>({
  type: 'string',
  enum: [...petStatuses],
  description: 'Availability.',
});

/** The most Unicode code points that a name has (contract section 2). */
export const nameLengthMax = 255;

/** One character at least that is no white space; no control characters; no half of a surrogate pair. */
const namePattern = '^(?=[^]*[^\\p{White_Space}\\ufeff])[^\\u0000-\\u001f\\u007f\\p{Cs}]*$';

/** The same as the regular expressions of all languages can say it; half of a surrogate pair is no character in most. */
const publishedNamePattern = '^[^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f\\x85][^\\x00-\\x1f\\x7f]*$';

/** An int64: a bigint inside, a JSON integer outside. */
export function int64Schema(description: string) {
  return Type.Unsafe<bigint>({ type: 'integer', format: 'int64', description });
}

const NameSchema = Type.String({
  minLength: 1,
  maxLength: nameLengthMax,
  pattern: publishedNamePattern,
  description: "The animal's name.",
  examples: ['Rex'],
});

/** Interface section 2, NewPet, with the bounds of contract section 2. */
export const NewPetSchema = Type.Object({
  name: NameSchema,
  categoryId: int64Schema('Identifier of the category the animal belongs to.'),
  status: Type.Optional(PetStatusSchema),
});

/** Interface section 2, Pet: a NewPet plus `id`. */
export const PetSchema = Type.Object({
  id: int64Schema('Unique identifier assigned by the service on creation.'),
  ...NewPetSchema.properties,
});

/** An animal to be added, as it was sent: `status` may be left out. */
export type NewPet = Static<typeof NewPetSchema>;

/** An animal as it is stored: an omitted status has become `available`. */
export type Pet = Required<Static<typeof PetSchema>>;

/** What is wrong with a candidate: the field, or null for the whole, and the rule that it breaks. */
export interface Violation {
  readonly field: string | null;
  readonly rule: string;
}

const rules: Record<keyof NewPet, string> = {
  name: `must be a string of 1 to ${nameLengthMax} characters, at least one of them no white space, without control characters or lone surrogates`,
  categoryId: `must be an integer from ${int64Min} to ${int64Max}`,
  status: `must be one of ${petStatuses.join(', ')}`,
};

const newPet = Compile(asChecked(NewPetSchema));

/** Whether a value is a NewPet; its int64 must be bigints. Fields that NewPet does not name are let by. */
export function isNewPet(value: unknown): value is NewPet {
  return newPet.Check(value);
}

/** Every rule that a value breaks on its way to be a NewPet, a field at most once; none if it is one. */
export function findViolations(value: unknown): Violation[] {
  if (isNewPet(value)) return [];
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [{ field: null, rule: 'must be a JSON object' }];
  const fields = Object.keys(rules) as (keyof NewPet)[];
  return fields.flatMap((field) => {
    const given = Object.hasOwn(value, field);
    if (!given) return field === 'status' ? [] : [{ field, rule: 'is required' }];
    return checks[field].Check((value as Record<string, unknown>)[field])
      ? []
      : [{ field, rule: rules[field] }];
  });
}

const checks = {
  name: Compile(asChecked(NameSchema)),
  categoryId: Compile(asChecked(NewPetSchema.properties.categoryId)),
  status: Compile(PetStatusSchema),
};

/** An animal to be stored: the named fields alone, with the default of an omitted status (contract section 2). */
export function completeNewPet({ name, categoryId, status = 'available' }: NewPet): Omit<Pet, 'id'> {
  return { name, categoryId, status };
}

/**
 * The schema to check with: where the wire has a JSON integer of int64, a value in the program is a bigint; a name has
 * its whole rule.
 */
function asChecked(schema: TSchema): TSchema {
  if (schema === NameSchema) return { ...schema, pattern: namePattern };
  if ('format' in schema && schema.format === 'int64') return Type.Refine(Type.Unknown(), isInt64);
  if (!('properties' in schema)) return schema;
  const properties = Object.entries(schema.properties as Record<string, TSchema>);
  return {
    ...schema,
    properties: Object.fromEntries(properties.map(([name, property]) => [name, asChecked(property)])),
  };
}
