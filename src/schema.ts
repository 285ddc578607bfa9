import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { int64Max, int64Min, isInt64 } from './int64.ts';

/** The most Unicode code points that a name has (contract section 2). */
export const nameLengthMax = 255;

/** At least one character that is not white space, no control characters, no lone surrogates. */
const namePattern = '^(?=[^]*[^\\p{White_Space}\\ufeff])[^\\u0000-\\u001f\\u007f\\p{Cs}]*$';
/** The same rule in a form that the regular expressions of every language can read. */
const publishedNamePattern = '^[^\\x00-\\x1f\\x7f]*[^\\s\\x00-\\x1f\\x7f\\x85][^\\x00-\\x1f\\x7f]*$';

/** An int64: a bigint in the program, a JSON integer on the wire. */
export function int64Field(description: string) {
  return Type.Unsafe<bigint>({ type: 'integer', format: 'int64', description });
}

/** A whole number of a body within bounds: a bigint in the program, a JSON integer on the wire. */
export function wholeNumberField(description: string, bounds: { minimum: number; maximum: number }) {
  return Type.Unsafe<bigint>({ type: 'integer', format: 'int32', ...bounds, description });
}

/** A time, RFC 3339 in UTC with milliseconds. */
export function timeField(description: string) {
  return Type.String({ format: 'date-time', minLength: 24, maxLength: 24, description });
}

/** A name, kept as it was sent: 1 to 255 code points, by the rules of contract section 2. */
export function nameField(description: string, example: string) {
  return Type.String({
    minLength: 1,
    maxLength: nameLengthMax,
    pattern: publishedNamePattern,
    description,
    examples: [example],
  });
}

/** One of a closed list of texts; case counts. */
export function enumField<const Choice extends string>(choices: readonly Choice[], description: string) {
  return Type.Unsafe<Choice>({ type: 'string', enum: [...choices], description });
}

/** What is wrong with a value: the field, or null for the whole, and the rule that it breaks. */
export interface Violation {
  readonly field: string | null;
  readonly rule: string;
}

/** A schema of a JSON object, compiled. */
export interface ObjectRules<T> {
  /** Whether a value keeps every rule. An int64 must be a bigint; fields that the schema does not name are ignored. */
  accepts(value: unknown): value is T;
  /** Every rule that a value breaks, at most one a field; none if it is accepted. */
  findViolations(value: unknown): Violation[];
}

/** Compiles the schema of a JSON object whose fields are made by the functions above. */
export function compileObject<S extends TObject>(schema: S): ObjectRules<Static<S>> {
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

  return { accepts: (value): value is Static<S> => whole.Check(value), findViolations };
}

/** Every violation in one sentence, as a client reads it: "name is required; status must be one of …". */
export function describeViolations(violations: readonly Violation[], whole: string): string {
  return violations.map(({ field, rule }) => `${field ?? whole} ${rule}`).join('; ');
}

/** The rule of one field in words, from its schema; `rule` in the schema names one that follows from nothing else. */
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

/** The schema as it is checked: an int64 is a bigint here, and a name has its whole rule. */
function asChecked(schema: TSchema): TSchema {
  if ('pattern' in schema && schema.pattern === publishedNamePattern)
    return { ...schema, pattern: namePattern };
  if ('format' in schema && schema.format === 'int64') return Type.Refine(Type.Unknown(), isInt64);
  if ('format' in schema && schema.format === 'int32') return asWholeNumber(schema);
  if (!('properties' in schema)) return schema;
  const properties = Object.entries(schema.properties as Record<string, TSchema>);
  return {
    ...schema,
    properties: Object.fromEntries(properties.map(([name, property]) => [name, asChecked(property)])),
  };
}

function asWholeNumber(schema: TSchema): TSchema {
  const { minimum, maximum } = schema as unknown as { minimum: number; maximum: number };
  return Type.Refine(
    Type.Unknown(),
    (value) => typeof value === 'bigint' && value >= minimum && value <= maximum,
  );
}
