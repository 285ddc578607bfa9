import fc, { type Arbitrary } from 'fast-check';
import { parseCanonicalInt64 } from '../../src/int64.ts';
import { type Description, matchesSchema, resolve } from '../../test/http/openapi/description.ts';
import type { Part } from './parts.ts';

/** The keywords of a JSON schema that the generators use. */
export interface ValueSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly format?: string;
  readonly items?: ValueSchema;
}

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ maxLength: 300 }),
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1.0',
    '1e2',
    '007',
    '+1',
    '0x10',
    '١',
    'null',
    'true',
    '[]',
    '__proto__',
  ),
);

const nearNumbers = fc.oneof(
  fc.integer({ min: -3, max: 103 }).map(String),
  fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }).map(String),
  fc.constantFrom(
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775808',
    '-9223372036854775809',
  ),
);

/** Generates texts that a schema allows, nearly allows or forbids. */
export function textsFor(schema: ValueSchema): Arbitrary<string> {
  if (schema.enum !== undefined) {
    const good = fc.constantFrom(...schema.enum);
    const near = good.chain((text) =>
      fc.constantFrom(text.toUpperCase(), `${text} `, text.slice(1), `${text}\0`),
    );
    return fc.oneof(
      { weight: 6, arbitrary: good },
      { weight: 1, arbitrary: near },
      { weight: 1, arbitrary: anyText },
    );
  }
  if (schema.items !== undefined)
    return fc.array(textsFor(schema.items), { minLength: 1, maxLength: 3 }).map((texts) => texts.join());
  if (schema.type === 'integer') {
    const { minimum = -1e6, maximum = 1e6 } = schema;
    const good = fc.integer({ min: Math.max(minimum, -1e6), max: Math.min(maximum, 1e6) }).map(String);
    return fc.oneof({ weight: 6, arbitrary: good }, { weight: 2, arbitrary: nearNumbers }, anyText);
  }
  return anyText;
}

const plainDecimal = /^(?:0|[1-9]\d*)$/;

/**
 * True if the description allows the text of a parameter. An integer must be a plain decimal. Any other parameter is
 * the text itself.
 */
function allowsText(description: Description, node: object, text: string): boolean {
  const schema = resolve<ValueSchema>(description, node);
  if (schema.items !== undefined) return text.split(',').every((one) => parseCanonicalInt64(one) !== null);
  if (schema.format === 'int64') return parseCanonicalInt64(text) !== null;
  if (schema.type !== 'integer') return matchesSchema(description, node, text);
  return plainDecimal.test(text) && matchesSchema(description, node, Number(text));
}

/** Generates parts of a schema, with the fault 400 if the schema forbids the text. */
export function partsFor(description: Description, name: string, node: object): Arbitrary<Part> {
  return textsFor(resolve<ValueSchema>(description, node)).map((text) => ({
    name,
    text,
    fault: allowsText(description, node, text) ? null : 400,
  }));
}
