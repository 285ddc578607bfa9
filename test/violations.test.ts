import assert from 'node:assert/strict';
import { test } from 'node:test';
import Type, { type TSchema } from 'typebox';
import { enumField, int64Field, nameField, nullable, timeField, wholeNumberField } from '../src/schema.ts';
import { compileObject, describeRule } from '../src/violations.ts';

const kinds: readonly (readonly [TSchema, string])[] = [
  [enumField(['kg', 'lb'], ''), 'must be one of kg, lb'],
  [int64Field(''), 'must be an integer from -9223372036854775808 to 9223372036854775807'],
  [wholeNumberField('', { minimum: 1, maximum: 9 }), 'must be an integer from 1 to 9'],
  [timeField(''), 'must be a string of 24 characters in the format date-time'],
  [Type.String({ minLength: 1, maxLength: 20 }), 'must be a string of 1 to 20 characters'],
  [Type.String({ minLength: 1 }), 'must be a string of at least 1 characters'],
  [Type.String({ pattern: '^a' }), 'must be a string that matches ^a'],
  [Type.String(), 'must be a string'],
  [Type.Boolean(), 'must be true or false'],
  [Type.Array(Type.String()), 'must be of the type array'],
  [nullable(enumField(['kg'], '')), 'must be one of kg or null'],
  [Type.String({ rule: 'must be a date' }), 'must be a date'],
];
for (const [schema, rule] of kinds)
  test(`a field has the message "${rule}" of its rule, or else of its type and bounds`, () => {
    assert.equal(describeRule(schema), rule);
  });

const examples: Readonly<Record<string, readonly [TSchema, unknown]>> = {
  'a name': [nameField('', 'Rex'), 'Rex'],
  'an int64': [int64Field(''), 7n],
  'a bounded integer': [wholeNumberField('', { minimum: 1, maximum: 9 }), 7n],
  'one of a list': [enumField(['kg', 'lb'], ''), 'kg'],
  'true or false': [Type.Boolean(), true],
};
for (const [what, [schema, value]] of Object.entries(examples))
  test(`a field for ${what} accepts null only if it is nullable`, () => {
    const { accepts } = compileObject(Type.Object({ plain: schema, nullable: nullable(schema) }));
    assert.ok(accepts({ plain: value, nullable: value }));
    assert.ok(accepts({ plain: value, nullable: null }));
    assert.ok(!accepts({ plain: null, nullable: null }));
    assert.ok(!accepts({ plain: value, nullable: {} }));
  });
