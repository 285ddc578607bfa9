import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonDepthMax, longNumbersMax, parseExactJson, stringifyExactJson } from '../src/exact-json.ts';
import { int64Max, int64Min } from '../src/int64.ts';

test('reads every int64 to the digit, as a bigint', () => {
  assert.deepEqual(parseExactJson('[-9223372036854775808, 9223372036854775807, 0, -0]'), [
    int64Min,
    int64Max,
    0n,
    0n,
  ]);
});

test('reads 1.0 and 1e2 as the integers that they are', () => {
  assert.deepEqual(parseExactJson('[1.0, 1e2, 10e-1]'), [1n, 100n, 1n]);
});

test('reads short integers as bigints wherever they stand, and leaves all else', () => {
  assert.equal(parseExactJson('7'), 7n);
  assert.equal(parseExactJson('7.5'), 7.5);
  for (const text of ['"7"', 'true', 'null']) assert.equal(parseExactJson(text), JSON.parse(text));
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

test('reads what stands beside a number with a point or an exponent as it is', () => {
  assert.deepEqual(parseExactJson('{"a":1.0,"b":"2","c":null,"d":true,"e":[3,4e0],"f":1234567890123456}'), {
    a: 1n,
    b: '2',
    c: null,
    d: true,
    e: [3n, 4n],
    f: 1_234_567_890_123_456n,
  });
});

test('leaves what is no int64 a number', () => {
  assert.deepEqual(parseExactJson('[1.5, 9223372036854775808, 1.00000000000000000001]'), [1.5, 2 ** 63, 1]);
});

test('leaves numbers in strings alone', () => {
  assert.deepEqual(parseExactJson('{"1": "1"}'), { 1: '1' });
});

test('takes __proto__ for a name like any other', () => {
  const value = parseExactJson('{"__proto__": {"name": "Rex"}}') as { name?: unknown };
  assert.equal(value.name, undefined);
  assert.deepEqual(Object.keys(value), ['__proto__']);
});

test('reads nesting up to its bound and throws RangeError past it', () => {
  const nest = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.ok(Array.isArray(parseExactJson(nest(jsonDepthMax))));
  assert.throws(() => parseExactJson(nest(jsonDepthMax + 1)), RangeError);
  assert.throws(() => parseExactJson(nest(20_000)), RangeError);
});

test('reads as many long numbers as it may and throws RangeError for more', () => {
  const list = (count: number) => `[${Array.from({ length: count }, (_, n) => `${n}.0`).join()}]`;
  const most = parseExactJson(list(longNumbersMax)) as unknown[];
  assert.equal(most.at(-1), BigInt(longNumbersMax - 1));
  assert.throws(() => parseExactJson(list(longNumbersMax + 1)), RangeError);
});

test('counts objects as nesting, and those beside each other once', () => {
  const nest = (depth: number) => `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`;
  assert.equal(typeof parseExactJson(nest(jsonDepthMax)), 'object');
  assert.throws(() => parseExactJson(nest(jsonDepthMax + 1)), {
    name: 'RangeError',
    message: 'must be nested at most 128 levels deep',
  });
  const pairs = (parseExactJson(`[${'[],{},'.repeat(200)}0]`) as unknown[]).length;
  assert.equal(pairs, 401);
  const tooDeep = `[${'0,'.repeat(100)}${'['.repeat(jsonDepthMax)}${']'.repeat(jsonDepthMax)}]`;
  assert.throws(() => parseExactJson(tooDeep), RangeError);
});

test('finds the end of a string behind a backslash', () => {
  const tooDeep = '['.repeat(jsonDepthMax) + ']'.repeat(jsonDepthMax);
  for (const string of ['\\', '"', 'n', '\n', '\\"'])
    assert.throws(() => parseExactJson(`[${JSON.stringify(string)},${tooDeep}]`), RangeError);
});

test('does not take brackets in strings for nesting', () => {
  const text = `\\" ${'[{'.repeat(200)}`;
  assert.equal(parseExactJson(JSON.stringify(text)), text);
});

test('throws SyntaxError for what is no JSON, long or short', () => {
  for (const text of ['', '{', '"', '"\\', '01', 'nul', `{"name": "${'x'.repeat(200)}`])
    assert.throws(() => parseExactJson(text), SyntaxError, text);
});

test('throws rather than write a bigint that is no int64', () => {
  assert.throws(() => stringifyExactJson({ id: int64Max + 1n }), TypeError);
});

test('reads back whatever it wrote', () => {
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
