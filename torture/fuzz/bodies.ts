import fc, { type Arbitrary } from 'fast-check';
import { type Description, resolve } from '../../test/http/openapi/description.ts';
import { anyJson, fieldsFor, type Part } from './values.ts';

export interface Body {
  readonly text: string;
  readonly type: string;
  readonly isValid: boolean;
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
}

const foreignNames = fc.oneof(
  fc.constantFrom('id', '__proto__', 'constructor', 'toString', 'Name', ''),
  fc.constantFrom('petId', 'orderId', 'webhookId', 'categoryId', 'keyId'),
  fc.string({ maxLength: 8 }),
);

/** Generates the fields of a body in any order. Fields may be missing, repeated or unknown. */
function fieldLists(description: Description, { properties, required = [] }: ObjectSchema) {
  const named = Object.entries(properties).map(([name, property]) => {
    const one = fieldsFor(description, name, property);
    return fc.oneof(
      { weight: 20, arbitrary: fc.array(one, { minLength: 1, maxLength: 1 }) },
      { weight: required.includes(name) ? 1 : 4, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(one, { minLength: 2, maxLength: 2 }) },
    );
  });
  const foreign = fc
    .tuple(foreignNames, anyJson)
    .filter(([name]) => !Object.hasOwn(properties, name))
    .map(([name, text]) => ({ name, text, isValid: true }));
  return fc.tuple(...named, fc.array(foreign, { maxLength: 2 })).chain((lists) => {
    const fields = lists.flat();
    return fc.shuffledSubarray(fields, { minLength: fields.length, maxLength: fields.length });
  });
}

/** Judges the last field of each name, as JSON.parse does. Every required name must be present. */
function isValid(fields: readonly Part[], required: readonly string[]): boolean {
  const last = new Map(fields.map((field) => [field.name, field]));
  return required.every((name) => last.has(name)) && [...last.values()].every((field) => field.isValid);
}

const otherBodies = fc
  .oneof(
    anyJson.filter((text) => !text.startsWith('{')),
    fc.integer({ min: 1, max: 200 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`),
    fc.constantFrom('', '{', '{"name":"Rex","categoryId":1', '{"name":"Rex","categoryId":1}}', '\ufeff{}'),
  )
  .map((text) => ({ text, isValid: false }));

const types = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom('application/json', 'Application/JSON;charset="UTF-8"') },
  fc.constantFrom(
    'text/plain',
    'application/jsonp',
    'application/json; charset=latin1',
    'application/json, text/plain',
    ';',
  ),
);

/** Generates bodies of an operation: valid, nearly valid and invalid. */
export function bodiesFor(description: Description, node: object): Arbitrary<Body> {
  const schema = resolve<ObjectSchema>(description, node);
  const objects = fc
    .tuple(fieldLists(description, schema), fc.constantFrom('', '', ' ', '\t\r\n '))
    .map(([fields, blank]) => {
      const members = fields.map(({ name, text }) => `${blank}${JSON.stringify(name)}:${blank}${text}`);
      return { text: `{${members.join(',')}${blank}}`, isValid: isValid(fields, schema.required ?? []) };
    });
  const contents = fc.oneof({ weight: 8, arbitrary: objects }, otherBodies);
  return fc.tuple(contents, types).map(([content, type]) => ({
    text: content.text,
    type,
    isValid: content.isValid && /^application\/json(?:;charset="UTF-8")?$/i.test(type),
  }));
}
