import Type, { type Static, type TObject, type TProperties, type TSchema, type TString } from 'typebox';
import { Compile } from 'typebox/schema';
import { int64Max, int64Min, isInt64 } from './int64.ts';

/** Maximum length of a name in Unicode code points. */
export const nameLengthMax = 255;

/** At least one character that is not white space. No control characters and no lone surrogates. */
const namePattern = '^(?=[^]*[^\\p{White_Space}\\ufeff])[^\\u0000-\\u001f\\u007f\\p{Cs}]*$';
/** Like `namePattern`, but without `\p{…}`, which some languages do not support. It does not refuse lone surrogates. */
const publishedNamePattern = '^[^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f\\x85][^\\x00-\\x1f\\x7f]*$';

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

/** Returns a schema that accepts null and every value of the given string schema. */
export function nullable(schema: TString) {
  return Type.Unsafe<string | null>({ ...schema, type: ['string', 'null'] });
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

/** An object with a name in `/openapi.json`. */
export function namedObject<Properties extends TProperties>(
  title: string,
  about: string,
  properties: Properties,
  bounds: { readonly minProperties?: number } = {},
) {
  return Type.Object(properties, { ...bounds, title, about });
}

/** A broken rule. `field` is null if the rule is about the whole value. */
export interface Violation {
  readonly field: string | null;
  readonly rule: string;
}

/** Compiles the schema of an object, whose fields are made by the functions above. An int64 must be a bigint. */
export function compileObject<S extends TObject>(schema: S) {
  const whole = Compile(asChecked(schema));
  const fields = Object.entries<TSchema>(schema.properties).map(([field, property]) => ({
    field,
    isRequired: schema.required?.includes(field) === true,
    check: Compile(asChecked(property)),
    rule: describeRule(property),
  }));

  function findViolations(value: unknown): Violation[] {
    if (whole.Check(value)) return [];
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return [{ field: null, rule: 'must be a JSON object' }];
    return fields.flatMap(({ field, isRequired, check, rule }) => {
      const isGiven = Object.hasOwn(value, field);
      if (!isGiven) return isRequired ? [{ field, rule: 'is required' }] : [];
      return check.Check((value as Record<string, unknown>)[field]) ? [] : [{ field, rule }];
    });
  }

  return { accepts: (value: unknown): value is Static<S> => whole.Check(value), findViolations };
}

/** Returns all violations in one sentence, such as "name is required; status must be …". `whole` names the whole value. */
export function describeViolations(violations: readonly Violation[], whole: string): string {
  return violations.map(({ field, rule }) => `${field ?? whole} ${rule}`).join('; ');
}

/** Returns the rule of a field in words: its `rule`, if the schema has one. */
export function describeRule(schema: TSchema): string {
  const { type, format, pattern, rule, ...bounds } = schema as Readonly<Record<string, unknown>>;
  if (typeof rule === 'string') return rule;
  if (Array.isArray(bounds['enum'])) return `must be one of ${bounds['enum'].join(', ')}`;
  if (format === 'int64') return `must be an integer from ${int64Min} to ${int64Max}`;
  if (type === 'integer') return `must be an integer from ${bounds['minimum']} to ${bounds['maximum']}`;
  if (pattern === publishedNamePattern)
    return `must be a string of 1 to ${nameLengthMax} characters, at least one of them not white space, without control characters or lone surrogates`;
  return 'must not be empty';
}

/** Returns the schema for validation. In it, an int64 is a bigint, and a name has the full pattern. */
function asChecked(schema: TSchema): TSchema {
  if ('pattern' in schema && schema.pattern === publishedNamePattern)
    return { ...schema, pattern: namePattern };
  if ('format' in schema && schema.format === 'int64') return Type.Refine(Type.Unknown(), isInt64);
  if ('format' in schema && schema.format === 'int32') {
    const { minimum, maximum } = schema as unknown as { minimum: number; maximum: number };
    const isWithin = (value: unknown) => typeof value === 'bigint' && value >= minimum && value <= maximum;
    return Type.Refine(Type.Unknown(), isWithin);
  }
  if (!('properties' in schema)) return schema;
  const properties = Object.entries(schema.properties as Record<string, TSchema>);
  return {
    ...schema,
    properties: Object.fromEntries(properties.map(([name, property]) => [name, asChecked(property)])),
  };
}
