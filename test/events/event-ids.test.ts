import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventIds } from '../../src/events/event-ids.ts';
import { int64Max } from '../../src/int64.ts';

const ids = createEventIds(Buffer.alloc(32, 1));

const positions = [0n, 1n, 61n, 62n, 3_843n, 2n ** 53n + 1n, int64Max];

test('event ids sort like their positions', () => {
  const written = positions.map(ids.write);
  assert.deepEqual(written, written.toSorted());
});

test('an event id has the exact position from which it was encoded', () => {
  const written = positions.map(ids.write);
  assert.deepEqual(written.map(ids.read), positions);
  for (const id of written) assert.match(id, /^evt_[0-9A-Za-z]{16}$/);
});

test('an event id with a changed length, alphabet, position, seal or secret is refused', () => {
  const id = ids.write(62n);
  const changed = [id.slice(1), `${id}0`, id.replace('evt_', 'EVT_'), id.replace('0', '-')];
  const resealed = id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');
  const foreign = createEventIds(Buffer.alloc(32, 2)).write(62n);
  for (const other of ['', 'evt_', ...changed, id.replace('10', '11'), resealed, foreign])
    assert.equal(ids.read(other), null, other);
});
