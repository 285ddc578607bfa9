import Type, { type Static, type TProperties, type TSchema } from 'typebox';

/** Maximum length of a name in Unicode code points. */
export const nameLengthMax = 255;

/** The pattern of a name without `\p{…}`, which some languages do not support. It does not refuse lone surrogates. */
export const publishedNamePattern = '^[^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f\\x85][^\\x00-\\x1f\\x7f]*$';

/** An int64: a bigint in the program, a JSON integer on the wire. */
export function int64Field(description: string) {
  return Type.Unsafe<bigint>({ type: 'integer', format: 'int64', description });
}

/** A number of things in a response, which no JavaScript number rounds. */
export function countField(description: string) {
  return Type.Unsafe<bigint>({
    type: 'integer',
    format: 'int64',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description,
  });
}

/** A bounded integer in a body: a bigint in the program, a JSON integer on the wire. */
export function wholeNumberField(description: string, bounds: { minimum: number; maximum: number }) {
  return Type.Unsafe<bigint>({ type: 'integer', format: 'int32', ...bounds, description });
}

/** A time in RFC 3339, UTC, with milliseconds. */
export function timeField(description: string) {
  return Type.String({ format: 'date-time', minLength: 24, maxLength: 24, description });
}

/** A text of a fixed length, such as an id. */
export function fixedText(length: number, pattern: string, description: string) {
  return Type.String({ minLength: length, maxLength: length, pattern, description });
}

/** Returns a schema that accepts null and every value of the given schema. It has no name in `/openapi.json`. */
export function nullable<S extends TSchema>(schema: S) {
  const { title: _title, about: _about, ...own } = schema as TSchema & Partial<SchemaName>;
  const { type, enum: choices } = own as { readonly type?: string; readonly enum?: readonly unknown[] };
  return Type.Unsafe<Static<S> | null>({
    ...own,
    type: [type, 'null'],
    ...(choices && { enum: [...choices, null] }),
  });
}

/** A name of 1 to 255 code points, stored as it was sent. */
export function nameField(description: string, example: string) {
  return Type.String({
    minLength: 1,
    maxLength: nameLengthMax,
    pattern: publishedNamePattern,
    description,
    examples: [example],
  });
}

/** The name of a schema in `/openapi.json`, and its description there. A copy with another `description` keeps both. */
export interface SchemaName {
  readonly title: string;
  readonly about: string;
}

/** One of a fixed list of strings, case-sensitive. */
export function enumField<const Choice extends string>(
  choices: readonly Choice[],
  description: string,
  name?: SchemaName,
) {
  return Type.Unsafe<Choice>({ type: 'string', enum: [...choices], description, ...name });
}

/**
 * An enumeration in a response. A later release may add values, so `/openapi.json` allows every other short text beside the
 * known values. In the program only the known values exist. An animal's and an order's status are never open.
 */
export function openEnum<S extends TSchema>(known: S) {
  return Type.Unsafe<Static<S>>({ ...known, isOpen: true });
}

/** An object with a name in `/openapi.json`. */
export function namedObject<Properties extends TProperties>(
  title: string,
  about: string,
  properties: Properties,
  bounds: { readonly minProperties?: number } = {},
) {
  return Type.Object(properties, { ...bounds, title, about });
}
