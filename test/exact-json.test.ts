import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  jsonDepthMax,
  keepLiteral,
  longNumbersMax,
  parseExactJson,
  stringifyExactJson,
} from '../src/exact-json.ts';
import { int64Max, int64Min } from '../src/int64.ts';

test('parseExactJson returns every int64 exactly, as a bigint', () => {
  assert.deepEqual(parseExactJson('[-9223372036854775808, 9223372036854775807, 0, -0]'), [
    int64Min,
    int64Max,
    0n,
    0n,
  ]);
});

test('parseExactJson returns 1.0 and 1e2 as bigints, because their values are integers', () => {
  assert.deepEqual(parseExactJson('[1.0, 1e2, 10e-1]'), [1n, 100n, 1n]);
});

test('parseExactJson returns values other than integers like JSON.parse', () => {
  for (const text of ['7.5', '"7"', 'true', 'null']) assert.equal(parseExactJson(text), JSON.parse(text));
});

test('parseExactJson returns short integers at any position as bigints', () => {
  assert.equal(parseExactJson('7'), 7n);
  const text = '{"a":1,"b":[2,{"c":3},"4",[5]],"d":{"e":6},"f":"7","g":true,"h":null}';
  assert.deepEqual(parseExactJson(text), {
    a: 1n,
    b: [2n, { c: 3n }, '4', [5n]],
    d: { e: 6n },
    f: '7',
    g: true,
    h: null,
  });
});

test('parseExactJson returns correct values next to a number with a decimal point or an exponent', () => {
  assert.deepEqual(parseExactJson('{"a":1.0,"b":"2","c":null,"d":true,"e":[3,4e0],"f":1234567890123456}'), {
    a: 1n,
    b: '2',
    c: null,
    d: true,
    e: [3n, 4n],
    f: 1_234_567_890_123_456n,
  });
});

test('parseExactJson returns a number for a literal that is not an int64', () => {
  assert.deepEqual(parseExactJson('[1.5, 9223372036854775808, 1.00000000000000000001]'), [1.5, 2 ** 63, 1]);
});

test('a number that is not an int64 can be written again as it was read', () => {
  const text = '[1,1.5,-1e400,9223372036854775808,{"a":1.00000000000000000001}]';
  assert.equal(stringifyExactJson(parseExactJson(text, keepLiteral)), text);
});

test('parseExactJson does not change digits in strings', () => {
  assert.deepEqual(parseExactJson('{"1": "1"}'), { 1: '1' });
});

test('parseExactJson treats __proto__ as an ordinary property', () => {
  const value = parseExactJson('{"__proto__": {"name": "Rex"}}') as { name?: unknown };
  assert.equal(value.name, undefined);
  assert.deepEqual(Object.keys(value), ['__proto__']);
});

test('parseExactJson throws RangeError if the nesting exceeds its bound', () => {
  const nest = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.ok(Array.isArray(parseExactJson(nest(jsonDepthMax))));
  assert.throws(() => parseExactJson(nest(jsonDepthMax + 1)), RangeError);
  assert.throws(() => parseExactJson(nest(20_000)), RangeError);
});

test('parseExactJson throws RangeError if the number of long numbers exceeds its bound', () => {
  const list = (count: number) => `[${Array.from({ length: count }, (_, n) => `${n}.0`).join()}]`;
  const most = parseExactJson(list(longNumbersMax)) as unknown[];
  assert.equal(most.at(-1), BigInt(longNumbersMax - 1));
  assert.throws(() => parseExactJson(list(longNumbersMax + 1)), RangeError);
});

test('parseExactJson counts nested objects', () => {
  const nest = (depth: number) => `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`;
  assert.equal(typeof parseExactJson(nest(jsonDepthMax)), 'object');
  assert.throws(() => parseExactJson(nest(jsonDepthMax + 1)), {
    name: 'RangeError',
    message: 'must be nested at most 128 levels deep',
  });
});

test('parseExactJson counts siblings as one level', () => {
  const pairs = (parseExactJson(`[${'[],{},'.repeat(200)}0]`) as unknown[]).length;
  assert.equal(pairs, 401);
  const tooDeep = `[${'0,'.repeat(100)}${'['.repeat(jsonDepthMax)}${']'.repeat(jsonDepthMax)}]`;
  assert.throws(() => parseExactJson(tooDeep), RangeError);
});

test('parseExactJson finds the end of a string with backslashes', () => {
  const tooDeep = '['.repeat(jsonDepthMax) + ']'.repeat(jsonDepthMax);
  for (const string of ['\\', '"', 'n', '\n', '\\"'])
    assert.throws(() => parseExactJson(`[${JSON.stringify(string)},${tooDeep}]`), RangeError);
});

test('parseExactJson does not count brackets in strings as nesting', () => {
  const text = `\\" ${'[{'.repeat(200)}`;
  assert.equal(parseExactJson(JSON.stringify(text)), text);
});

test('parseExactJson throws SyntaxError for invalid JSON of any length', () => {
  for (const text of ['', '{', '"', '"\\', '01', 'nul', `{"name": "${'x'.repeat(200)}`])
    assert.throws(() => parseExactJson(text), SyntaxError, text);
});

test('stringifyExactJson throws TypeError for a bigint that is not an int64', () => {
  assert.throws(() => stringifyExactJson({ id: int64Max + 1n }), TypeError);
});

test('parseExactJson parses everything that stringifyExactJson writes', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5 },
      fc.bigInt(int64Min, int64Max),
      fc.string({ unit: 'binary' }),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value')),
      fc.dictionary(fc.string(), tie('value'), { noNullPrototype: true }),
    ),
  }));
  fc.assert(fc.property(value, (json) => assert.deepEqual(parseExactJson(stringifyExactJson(json)), json)));
});
