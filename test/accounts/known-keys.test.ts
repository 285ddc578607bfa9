import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKnownKeys, knownMs } from '../../src/accounts/known-keys.ts';

test('a key counts as recently valid for an hour after a successful lookup, to the millisecond', () => {
  const known = createKnownKeys();
  assert.equal(known.has('key', 0), false);
  known.note('key', true, 0);
  assert.deepEqual([known.has('key', knownMs - 1), known.has('key', knownMs)], [true, false]);
});

test('another successful lookup extends the time to an hour from then on', () => {
  const known = createKnownKeys();
  for (const atMs of [0, knownMs - 1]) known.note('key', true, atMs);
  assert.equal(known.has('key', knownMs), true);
});

test('a refused key does not count as recently valid', () => {
  const known = createKnownKeys();
  for (const isValid of [true, false]) known.note('key', isValid, 0);
  assert.equal(known.has('key', 0), false);
});

test('a full list evicts the least recently read key, and refused keys take no place', () => {
  const known = createKnownKeys(2);
  for (const key of ['a', 'b', 'a', 'c']) known.note(key, true, 0);
  for (let stranger = 0; stranger < 10; stranger += 1) known.note(`stranger ${stranger}`, false, 0);
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => known.has(key, 0)),
    [true, false, true],
  );
});
