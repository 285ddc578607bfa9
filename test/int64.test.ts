import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { int64Max, int64Min, isInt64, parseCanonicalInt64, parseInt64Literal } from '../src/int64.ts';

const int64 = fc.bigInt(int64Min, int64Max);

test('isInt64 accepts exactly the bigints from -2^63 to 2^63-1', () => {
  assert.equal(int64Min, -9223372036854775808n);
  assert.equal(int64Max, 9223372036854775807n);
  assert.ok(isInt64(int64Min) && isInt64(int64Max) && isInt64(0n));
  assert.ok(!isInt64(int64Min - 1n) && !isInt64(int64Max + 1n));
});

test('isInt64 refuses JavaScript numbers, because they may have lost digits', () => {
  for (const value of [1, 0, 1.5, '1', null, undefined, Number.NaN]) assert.equal(isInt64(value), false);
});

test('every int64 is parsed exactly from its own decimal text', () => {
  fc.assert(fc.property(int64, (value) => assert.equal(parseCanonicalInt64(`${value}`), value)));
});

const noCanonical = '- -0 +1 007 -01 1.0 1e2 abc 0x1 1n ١ 9223372036854775808 -9223372036854775809';
for (const text of ['', ' 1', '1 ', '1\n', '1'.repeat(10_000), ...noCanonical.split(' ')])
  test(`${JSON.stringify(text.slice(0, 30))} is not a canonical int64`, () =>
    assert.equal(parseCanonicalInt64(text), null));

const integers: readonly (readonly [value: bigint, literals: string])[] = [
  [0n, '0 -0 0.0 -0.0e5 0e400'],
  [1n, '1.0 10e-1 100e-2 0.0001e4'],
  [100n, '1e2 1E+2'],
  [-9n, '-9'],
  [-15n, '-1.50e1'],
  [9007199254740993n, '9007199254740993 9007199254740993.000'],
  [int64Max, '9223372036854775807 9.223372036854775807e18 92233720368547758070e-1 0.9223372036854775807e19'],
  [int64Min, '-9223372036854775808'],
];
for (const [value, literals] of integers)
  for (const literal of literals.split(' '))
    test(`the JSON number ${literal} is the integer ${value}`, () =>
      assert.equal(parseInt64Literal(literal), value));

const noInt64 =
  '1.5 1e-1 0.1 15e-1 1.00000000000000000001 1e19 1e400 -1e400 1e99999999999999999999 1e-99999999999999999999 9223372036854775808 9223372036854775807.5 9.223372036854775808e18 -9223372036854775809 12345678901234567890123456789';
for (const literal of noInt64.split(' '))
  test(`the JSON number ${literal} is not an int64`, () => assert.equal(parseInt64Literal(literal), null));

for (const text of ['', '-', 'x1', '1x', '1.', '.5', '1e', '1e1.0', '--1', '1 ', ' 1.0', '1.0 '])
  test(`${JSON.stringify(text)} is not a JSON number`, () => assert.equal(parseInt64Literal(text), null));

test('an int64 is parsed from any JSON literal with the same value', () => {
  fc.assert(
    fc.property(int64, fc.nat(30), (value, zeros) => {
      assert.equal(parseInt64Literal(`${value}.${'0'.repeat(zeros + 1)}`), value);
      assert.equal(parseInt64Literal(`${value}${'0'.repeat(zeros)}e-${zeros}`), value);
      assert.equal(parseInt64Literal(`${value}e0`), value);
    }),
  );
});

test('a literal as long as the longest body is parsed quickly', () => {
  const zeros = '0'.repeat(60_000);
  assert.equal(parseInt64Literal(`1${zeros}e-60000`), 1n);
  assert.equal(parseInt64Literal(`1.${zeros}1`), null);
  assert.equal(parseInt64Literal('1'.repeat(60_000)), null);
});
