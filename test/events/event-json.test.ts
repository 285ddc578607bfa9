import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findChanged } from '../../src/events/event-json.ts';

test('the previous values are those of changed fields, and arrays and objects are compared by their content', () => {
  const before = { name: 'Rex', tags: ['a', 'b'], size: { cm: 5n }, colour: 'red' };
  const now = { name: 'Max', tags: ['a', 'b'], size: { cm: 5n }, weight: 7n };
  assert.deepEqual(findChanged(before, now), { name: 'Rex', colour: 'red' });
  assert.deepEqual(findChanged({ tags: ['a'] }, { tags: ['a', 'b'] }), { tags: ['a'] });
});
