import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { Compile } from 'typebox/schema';
import { int64Max, int64Min, isInt64 } from './int64.ts';
import { nameLengthMax, publishedNamePattern } from './schema.ts';

/** At least one character that is not white space. No control characters and no lone surrogates. */
const namePattern = '^(?=[^]*[^\\p{White_Space}\\ufeff])[^\\u0000-\\u001f\\u007f\\p{Cs}]*$';

/** A broken rule. `field` is null if the rule is about the whole value. */
export interface Violation {
  readonly field: string | null;
  readonly rule: string;
}

/** Compiles the schema of an object, whose fields are those of schema.ts. An int64 must be a bigint. */
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

/** Returns the rule of a field in words: its `rule`, if the schema has one. Otherwise its type and bounds. */
export function describeRule(schema: TSchema): string {
  const { rule } = schema as { readonly rule?: unknown };
  if (typeof rule === 'string') return rule;
  return `must be ${describeType(schema)}${takesNull(schema) ? ' or null' : ''}`;
}

/** Describes the values of a type other than null. */
function describeType(schema: TSchema): string {
  const { type, format, pattern, enum: choices, ...bounds } = schema as Readonly<Record<string, unknown>>;
  const [kind] = [type].flat();
  if (Array.isArray(choices)) return `one of ${choices.filter((choice) => choice !== null).join(', ')}`;
  if (format === 'int64') return `an integer from ${int64Min} to ${int64Max}`;
  if (kind === 'integer') return `an integer from ${bounds['minimum']} to ${bounds['maximum']}`;
  if (pattern === publishedNamePattern)
    return `a string of 1 to ${nameLengthMax} characters, at least one of them not white space, without control characters or lone surrogates`;
  if (kind === 'boolean') return 'true or false';
  if (kind === 'string') return describeText(bounds, format, pattern);
  return `of the type ${kind}`;
}

/** Describes a string by its length, its format and its pattern. */
function describeText(bounds: Readonly<Record<string, unknown>>, format: unknown, pattern: unknown): string {
  const { minLength: least = 0, maxLength: most } = bounds;
  const range = most === undefined ? `at least ${least}` : `${least} to ${most}`;
  const hasLength = most !== undefined || least !== 0;
  const parts = [
    'a string',
    hasLength && `of ${least === most ? most : range} characters`,
    format !== undefined && `in the format ${format}`,
    pattern !== undefined && `that matches ${pattern}`,
  ];
  return parts.filter(Boolean).join(' ');
}

function takesNull(schema: TSchema): boolean {
  const { type } = schema as { readonly type?: unknown };
  return Array.isArray(type) && type.includes('null');
}

/** Returns the schema for validation. In it, an int64 is a bigint, and a name has the full pattern. */
function asChecked(schema: TSchema): TSchema {
  if ('pattern' in schema && schema.pattern === publishedNamePattern)
    return { ...schema, pattern: namePattern };
  const isNull = (value: unknown) => value === null && takesNull(schema);
  if ('format' in schema && schema.format === 'int64')
    return Type.Refine(Type.Unknown(), (value) => isInt64(value) || isNull(value));
  if ('format' in schema && schema.format === 'int32') {
    const { minimum, maximum } = schema as unknown as { minimum: number; maximum: number };
    const isWithin = (value: unknown) => typeof value === 'bigint' && value >= minimum && value <= maximum;
    return Type.Refine(Type.Unknown(), (value) => isWithin(value) || isNull(value));
  }
  if (!('properties' in schema)) return schema;
  const properties = Object.entries(schema.properties as Record<string, TSchema>);
  return {
    ...schema,
    properties: Object.fromEntries(properties.map(([name, property]) => [name, asChecked(property)])),
  };
}
