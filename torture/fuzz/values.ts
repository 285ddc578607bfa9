import fc, { type Arbitrary } from 'fast-check';
import { parseCanonicalInt64, parseInt64Literal } from '../../src/int64.ts';
import { type Description, matchesSchema, resolve } from '../../test/http/openapi/description.ts';

/** A parameter, a header or a field of a body. */
export interface Part {
  readonly name: string;
  /** A parameter before it is encoded; a header or a field of a body as it is sent. */
  readonly text: string;
  /** False if this part alone makes a request invalid. */
  readonly isValid: boolean;
}

/** The keywords of a JSON schema that the generators use. */
interface ValueSchema {
  readonly type?: string;
  readonly enum?: readonly (string | number)[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly items?: ValueSchema;
}

/** Numbers in JSON, including the exact limits of int64 and far beyond. */
const numbers = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) },
  fc.integer({ min: -3, max: 103 }).map(String),
  fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }).map(String),
  fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 20n }), fc.nat({ max: 9_999 }), fc.integer({ min: -30, max: 30 }))
    .map(([whole, fraction, exponent]) => `${whole}.${fraction}e${exponent}`),
  fc.integer({ min: 1, max: 400 }).map((length) => '1'.repeat(length)),
  fc.constantFrom('-0', '0.0', '1.0', '1e2', '1.5', '1e400', '1e-400', '1e999999', '9223372036854775807.0'),
  fc.constantFrom(2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n).map(String),
);

const names = fc
  .oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }) },
    fc.string({ unit: 'binary', maxLength: 260 }),
    fc.constantFrom('', ' ', '\u3000', '\ud800', 'a\udfff', '\0', 'a\tb', '\u200b', '007', '+1', '__proto__'),
    fc.constantFrom(255, 256).map((length) => '😀'.repeat(length)),
  )
  .map((text) => JSON.stringify(text));

/** Any JSON value. */
export const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.constantFrom('null', 'true', '""', '[]', '{}', '"1"', '[1]', '{"__proto__":1}', '{"toString":1}'),
  numbers,
);

/** Generates JSON that a schema allows, nearly allows or forbids. */
function jsonFor({
  enum: choices,
  type,
  format,
  minimum = -1e6,
  maximum = 1e6,
}: ValueSchema): Arbitrary<string> {
  const near = { weight: 1, arbitrary: anyJson };
  if (choices !== undefined) {
    const good = fc.constantFrom(...choices);
    const misspelt = good.chain((value) => fc.constantFrom(...misspell(value)));
    return fc.oneof({ weight: 8, arbitrary: good.map(quote) }, misspelt.map(quote), near);
  }
  if (format === 'int64') return fc.oneof({ weight: 9, arbitrary: numbers }, near);
  if (type !== 'integer') return fc.oneof({ weight: 9, arbitrary: names }, near);
  const good = fc.integer({ min: Math.max(minimum, -1e6), max: Math.min(maximum, 1e6) });
  return fc.oneof({ weight: 6, arbitrary: good.map(String) }, { weight: 2, arbitrary: numbers }, near);
}

function misspell(value: string | number): readonly (string | number)[] {
  if (typeof value === 'number') return [-value, value + 0.5, 10 * value, `+${value}`];
  return [value.toUpperCase(), `${value} `, value.slice(1)];
}

const quote = (value: string | number) => JSON.stringify(value);

/** Generates fields of a body as JSON. */
export function fieldsFor(description: Description, name: string, node: object): Arbitrary<Part> {
  const schema = resolve<ValueSchema>(description, node);
  return jsonFor(schema).map((text) => ({ name, text, isValid: allowsJson(description, schema, text) }));
}

/** An int64 is checked as text, because conversion to a JavaScript number would lose digits. */
function allowsJson(description: Description, schema: ValueSchema, text: string): boolean {
  if (schema.format === 'int64') return parseInt64Literal(text) !== null;
  const value: unknown = JSON.parse(text);
  // A description cannot exclude lone surrogates, because most languages cannot represent them.
  if (typeof value === 'string' && !value.isWellFormed()) return false;
  return matchesSchema(description, schema, value);
}

/** Generates parameters. A string is the text itself, any other value its JSON. */
export function partsFor(description: Description, name: string, node: object): Arbitrary<Part> {
  const schema = resolve<ValueSchema>(description, node);
  const one = jsonFor(schema.items ?? schema).map((text) => (text.startsWith('"') ? JSON.parse(text) : text));
  const texts = schema.items === undefined ? one : fc.array(one, { minLength: 1, maxLength: 3 }).map(String);
  return texts.map((text: string) => ({ name, text, isValid: allowsText(description, schema, text) }));
}

/** An integer must be a plain decimal. Any other parameter is the text itself. */
function allowsText(description: Description, schema: ValueSchema, text: string): boolean {
  if (schema.items !== undefined) return text.split(',').every((one) => parseCanonicalInt64(one) !== null);
  if (schema.format === 'int64') return parseCanonicalInt64(text) !== null;
  if (schema.type !== 'integer') return matchesSchema(description, schema, text);
  return /^(?:0|[1-9]\d*)$/.test(text) && matchesSchema(description, schema, Number(text));
}
