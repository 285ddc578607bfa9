import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCursors } from '../../../src/http/request/cursor.ts';
import { int64Max, int64Min } from '../../../src/int64.ts';
import { petStatuses } from '../../../src/pets/pet.ts';

const cursors = createCursors(Buffer.alloc(32, 1));
const statuses = [null, ...petStatuses] as const;
const id = fc.bigInt(int64Min, int64Max);

test('a cursor gives the id that it was made with', () => {
  fc.assert(
    fc.property(fc.constantFrom(...statuses), id, (status, newestId) => {
      const text = cursors.write(status, newestId);
      assert.match(text, /^[\w-]{26}$/);
      assert.equal(cursors.read(text, status), newestId);
    }),
  );
});

test('a cursor is refused for any other status', () => {
  for (const made of statuses)
    for (const read of statuses)
      assert.equal(cursors.read(cursors.write(made, 7n), read), made === read ? 7n : null);
});

test('a cursor is refused if any of its bits was changed', () => {
  const text = cursors.write('sold', 7n);
  const bytes = Buffer.from(text, 'base64url');
  for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.equal(cursors.read(changed.toString('base64url'), 'sold'), null);
  }
});

test('a cursor of a store with another secret is refused', () => {
  const other = createCursors(Buffer.alloc(32, 2));
  assert.equal(cursors.read(other.write(null, 7n), null), null);
});

test('a cursor has one spelling', () => {
  const text = cursors.write(null, -1n);
  const [start, last = ''] = [text.slice(0, -1), text.at(-1)];
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=.~ ';
  for (const character of alphabet)
    if (character !== last) assert.equal(cursors.read(start + character, null), null, character);
});

test('a text of another length is no cursor', () => {
  const text = cursors.write(null, 7n);
  for (const other of ['', 'A', text.slice(1), text.slice(0, -1), `${text}A`, `${text}AA==`, `${text}\0`])
    assert.equal(cursors.read(other, null), null, other);
});
