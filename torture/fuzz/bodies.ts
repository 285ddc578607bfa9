import fc, { type Arbitrary } from 'fast-check';
import { parseInt64Literal } from '../../src/int64.ts';
import { type Description, matchesSchema, resolve } from '../../test/http/openapi/description.ts';
import type { Body, Part } from './parts.ts';
import { textsFor, type ValueSchema } from './texts.ts';

const bodyBytesMax = 65_536;

const digits = (min: number, max: number) =>
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: min, maxLength: max }).map((list) => list.join(''));

/** JSON numbers, including the exact limits of int64 and far beyond. */
const numberTexts = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String) },
  fc.bigInt({ min: -(2n ** 66n), max: 2n ** 66n }).map(String),
  fc
    .tuple(fc.bigInt({ min: 1n, max: 10n ** 20n }), digits(1, 4), fc.integer({ min: -30, max: 30 }))
    .map(([whole, fraction, exponent]) => `${whole}.${fraction}e${exponent}`),
  digits(1, 400).map((text) => `1${text}`),
  fc.constantFrom(
    '0',
    '-0',
    '0.0',
    '1.0',
    '1e2',
    '1.5',
    '1e400',
    '1e-400',
    '1e999999',
    '-9223372036854775808',
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775809',
    '9223372036854775807.0',
  ),
);

const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  fc.constantFrom('null', 'true', '""', '[]', '{}', '"1"', '[1]', '{"__proto__":1}'),
);

const nameTexts = fc
  .oneof(
    { weight: 4, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }) },
    fc.string({ unit: 'binary', maxLength: 260 }),
    fc.constantFrom(
      '',
      ' ',
      '\u3000',
      '\ud800',
      'a\udfff',
      '\0',
      'a\tb',
      '\u200b',
      '😀'.repeat(255),
      '😀'.repeat(256),
    ),
  )
  .map((text) => JSON.stringify(text));

/**
 * True if a text has no lone surrogates. A description cannot exclude lone surrogates, because most languages cannot
 * represent them.
 */
function isUnicode(json: string): boolean {
  const value: unknown = JSON.parse(json);
  return typeof value !== 'string' || value.isWellFormed();
}

/**
 * Generates fields of a schema as JSON. An int64 is checked as text, because conversion to a JavaScript number would
 * lose digits.
 */
function fieldsFor(description: Description, name: string, node: object): Arbitrary<Part> {
  const schema = resolve<ValueSchema>(description, node);
  const isInt64 = schema.format === 'int64';
  const own = isInt64
    ? numberTexts
    : schema.enum === undefined
      ? nameTexts
      : textsFor(schema).map((text) => JSON.stringify(text));
  const allows = (text: string) =>
    isInt64
      ? parseInt64Literal(text) !== null
      : isUnicode(text) && matchesSchema(description, node, JSON.parse(text));
  return fc
    .oneof({ weight: 9, arbitrary: own }, { weight: 1, arbitrary: anyJson })
    .map((text) => ({ name, text, fault: allows(text) ? null : 400 }));
}

const foreignFields = fc.tuple(
  fc.oneof(
    fc.constantFrom('id', '__proto__', 'constructor', 'toString', 'Name', ''),
    fc.string({ maxLength: 8 }),
  ),
  fc.oneof(anyJson, numberTexts),
);

interface ObjectSchema {
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

/** Generates the fields of a body in any order. Fields may be missing, repeated or unknown. */
function fieldLists(description: Description, node: object): Arbitrary<readonly Part[]> {
  const { properties, required = [] } = resolve<ObjectSchema>(description, node);
  const named = Object.entries(properties).map(([name, property]) => {
    const one = fieldsFor(description, name, property);
    const none = required.includes(name) ? 1 : 4;
    const counts = fc.oneof(
      { weight: 20, arbitrary: fc.constant(1) },
      { weight: none, arbitrary: fc.constant(0) },
      { weight: 1, arbitrary: fc.constant(2) },
    );
    return counts.chain((count) => fc.array(one, { minLength: count, maxLength: count }));
  });
  const foreign = fc
    .array(foreignFields, { maxLength: 2 })
    .map((list) =>
      list
        .filter(([name]) => !Object.hasOwn(properties, name))
        .map(([name, text]) => ({ name, text, fault: null })),
    );
  return fc.tuple(...named, foreign).chain((lists) => shuffled(lists.flat()));
}

function shuffled<T>(list: readonly T[]): Arbitrary<readonly T[]> {
  return list.length < 2
    ? fc.constant(list)
    : fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });
}

/** Judges the last field of each name, as JSON.parse does. Every required name must be present. */
function judgeFields(fields: readonly Part[], required: readonly string[]): number | null {
  const last = new Map(fields.map((field) => [field.name, field]));
  const isComplete = required.every((name) => last.has(name));
  return isComplete && [...last.values()].every(({ fault }) => fault === null) ? null : 400;
}

const blanks = fc.constantFrom('', '', '', ' ', '\n', '\t\r\n ');

function objectBodies(description: Description, node: object) {
  const { required = [] } = resolve<ObjectSchema>(description, node);
  return fc.tuple(fieldLists(description, node), blanks).map(([fields, blank]) => {
    const members = fields.map(({ name, text }) => `${blank}${JSON.stringify(name)}:${blank}${text}`);
    return { text: `{${members.join(',')}${blank}}`, fault: judgeFields(fields, required) };
  });
}

const otherBodies = fc
  .oneof(
    anyJson.filter((text) => !text.startsWith('{')),
    fc.string({ unit: 'binary', maxLength: 60 }).filter((text) => !isObject(text)),
    fc.integer({ min: 1, max: 200 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
    fc.constantFrom('', '{', '{"name":"Rex","categoryId":1', '{"name":"Rex","categoryId":1}}', '\ufeff{}'),
  )
  .map((text) => ({ text, fault: 400 }));

const rex = '{"name":"Rex","categoryId":1}';
const largeBodies = fc.integer({ min: bodyBytesMax - 40, max: bodyBytesMax + 40 }).map((bytes) => ({
  text: rex,
  blanks: bytes - rex.length,
  fault: bytes > bodyBytesMax ? 413 : null,
}));

function isObject(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

const contentTypes = fc.oneof(
  {
    weight: 12,
    arbitrary: fc
      .constantFrom(
        'application/json',
        'application/json; charset=utf-8',
        'Application/JSON',
        'application/json;charset="UTF-8"',
      )
      .map((text) => ({ name: 'Content-Type', text, fault: null })),
  },
  fc
    .constantFrom(
      'text/plain',
      'application/xml',
      'application/jsonp',
      'application/json; charset=latin1',
      'json',
      '/',
      ';',
      'multipart/form-data',
      'application/json, text/plain',
    )
    .map((text) => ({ name: 'Content-Type', text, fault: 415 })),
);

const encodings = fc.oneof(
  { weight: 12, arbitrary: fc.constant([]) },
  fc
    .constantFrom('gzip', 'br', 'deflate', 'zstd', 'gzip, identity')
    .map((text) => [{ name: 'Content-Encoding', text, fault: 415 }]),
  fc.constant([{ name: 'Content-Encoding', text: 'identity', fault: null }]),
);

/** Generates bodies of an operation: valid, nearly valid and invalid. */
export function bodiesFor(description: Description, node: object): Arbitrary<Body> {
  const contents = fc.oneof(
    { weight: 30, arbitrary: objectBodies(description, node) },
    { weight: 4, arbitrary: otherBodies },
    { weight: 1, arbitrary: largeBodies },
  );
  return fc.tuple(contents, contentTypes, encodings).map(([content, type, encoding]) => ({
    blanks: 0,
    ...content,
    headers: [type, ...encoding],
  }));
}
