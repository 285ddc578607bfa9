import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatStrikes, parseStrikes } from '../../../src/limits/memory/strikes-text.ts';

test('strikes are written as time differences, with a count if one millisecond has several', () => {
  const strikes = new Map([
    [1_760_000_000_000, 3],
    [1_760_000_000_012, 1],
    [1_760_000_000_017, 2],
  ]);
  assert.equal(formatStrikes(strikes), '1760000000000x3 12 5x2');
});

test('an empty list of strikes is written as an empty text', () => {
  assert.equal(formatStrikes(new Map()), '');
  assert.deepEqual(parseStrikes(''), new Map());
});

test('strikes are parsed in the order in which they were written', () => {
  const entry = fc.tuple(fc.integer({ min: 0, max: 4_102_444_800_000 }), fc.integer({ min: 1, max: 5_000 }));
  fc.assert(
    fc.property(fc.array(entry), (entries) => {
      const strikes = new Map(entries);
      assert.deepEqual([...parseStrikes(formatStrikes(strikes))], [...strikes]);
    }),
  );
});

test('999 strikes of one minute take less than 4,000 characters', () => {
  const strikes = new Map(Array.from({ length: 999 }, (_, index) => [1_760_000_000_000 + index * 60, 1]));
  assert.ok(formatStrikes(strikes).length < 4_000);
});
