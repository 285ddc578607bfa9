import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseExactJson, parseTagged, stringifyExactJson } from '../../client/src/exact-json.ts';

/** The parsers with and without support by the JavaScript engine. */
const readers = { parseExactJson, parseTagged };

const scalar = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.string({ unit: 'binary' }),
  fc.stringMatching(/^[-"\\:,is0-9{}[\]]{0,12}$/),
  fc.boolean(),
  fc.constant(null),
);
const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('value')),
    fc.dictionary(fc.string(), tie('value'), { noNullPrototype: true }),
  ),
}));

for (const [name, parse] of Object.entries(readers)) {
  test(`${name} parses everything that stringifyExactJson writes`, () => {
    fc.assert(fc.property(anyValue, (value) => assert.deepEqual(parse(stringifyExactJson(value)), value)));
  });

  test(`${name} keeps every digit and does not change numbers in strings`, () => {
    const text =
      '{"7": [-9223372036854775808, 9223372036854775807], "a" :"12", "b":"\\"9\\\\", "c":1.5e3, "d":0}';
    const value = { 7: [-(2n ** 63n), 2n ** 63n - 1n], a: '12', b: '"9\\', c: 1500, d: 0n };
    assert.deepEqual(parse(text), value);
  });

  test(`${name} refuses what is not JSON`, () => {
    for (const text of ['', '{', '[01]', '{"a":1,}', '+1', '"\n"', 'nul', '"a" 1'])
      assert.throws(() => parse(text), SyntaxError, text);
  });
}

test('stringifyExactJson uses toJSON as JSON.stringify does', () => {
  const form = { toJSON: (name: string) => (name === 'gone' ? undefined : `at ${name}`) };
  const value = { at: new Date(0), to: new URL('https://example.com'), form, gone: form, list: [form] };
  assert.equal(stringifyExactJson(value), JSON.stringify(value));
  assert.equal(stringifyExactJson(form), JSON.stringify(form));
  assert.equal(stringifyExactJson({ toJSON: () => 2n ** 62n }), '4611686018427387904');
});

test('stringifyExactJson writes values that JSON cannot represent as JSON.stringify does', () => {
  const value = { a: undefined, b: () => 1, c: Number.NaN, d: [undefined, 1n], e: new Array(2) };
  assert.equal(stringifyExactJson(value), '{"c":null,"d":[null,1],"e":[null,null]}');
});
