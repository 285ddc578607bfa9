import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKnownKeys, knownMs } from '../../src/accounts/known-keys.ts';

test('a key is known for an hour after it was found valid, to the millisecond', () => {
  const known = createKnownKeys();
  assert.equal(known.has('key', 0), false);
  known.note('key', true, 0);
  assert.deepEqual([known.has('key', knownMs - 1), known.has('key', knownMs)], [true, false]);
});

test('a key that is found valid again is known for an hour from then on', () => {
  const known = createKnownKeys();
  for (const atMs of [0, knownMs - 1]) known.note('key', true, atMs);
  assert.equal(known.has('key', knownMs), true);
});

test('a refused key is no longer known', () => {
  const known = createKnownKeys();
  for (const isValid of [true, false]) known.note('key', isValid, 0);
  assert.equal(known.has('key', 0), false);
});

test('beyond the bound the key that was read longest ago is forgotten, and refused ones take no place', () => {
  const known = createKnownKeys(2);
  for (const key of ['a', 'b', 'a', 'c']) known.note(key, true, 0);
  for (let stranger = 0; stranger < 10; stranger += 1) known.note(`stranger ${stranger}`, false, 0);
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => known.has(key, 0)),
    [true, false, true],
  );
});
