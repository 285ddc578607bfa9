import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventIds } from '../../src/events/event-ids.ts';
import { canSee, everything } from '../../src/events/event-reader.ts';
import type { EventRow } from '../../src/events/feed-page.ts';
import { findChanged, writeEvent } from '../../src/events/write-events.ts';

test('the previous values are those of changed fields, and arrays and objects are compared by their content', () => {
  const before = { name: 'Rex', tags: ['a', 'b'], size: { cm: 5n }, colour: 'red' };
  const now = { name: 'Max', tags: ['a', 'b'], size: { cm: 5n }, weight: 7n };
  assert.deepEqual(findChanged(before, now), { name: 'Rex', colour: 'red' });
  assert.deepEqual(findChanged({ tags: ['a'] }, { tags: ['a', 'b'] }), { tags: ['a'] });
});

test('nobody sees an event of an unknown type, and it cannot be written', () => {
  const event: EventRow = {
    id: 1n,
    at_ms: 1n,
    type: 'customer.added',
    account_id: null,
    account: null,
    data: '{"secret":1}',
    previous: null,
  };
  assert.equal(canSee(everything, event), false);
  assert.throws(() => writeEvent(event, everything, createEventIds(Buffer.alloc(32))), /customer\.added/);
});
