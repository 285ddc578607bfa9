import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCursors } from '../../../src/http/request/cursor.ts';
import { int64Max, int64Min } from '../../../src/int64.ts';

const cursors = createCursors(Buffer.alloc(32, 1));
const lists = [
  '/pets',
  '/pets?status=available',
  '/pets?status=pending',
  '/pets?status=sold',
  '/pets?status=sold&categoryId=7',
  '/pets?categoryId=7',
  '/pets?id=9,7',
  '/categories',
];
const soldPets = '/pets?status=sold';
const id = fc.bigInt(int64Min, int64Max);

test('a cursor is decoded to the position from which it was encoded', () => {
  fc.assert(
    fc.property(fc.constantFrom(...lists), id, (list, position) => {
      const text = cursors.write(list, position);
      assert.match(text, /^[\w-]{26}$/);
      assert.equal(cursors.read(text, list), position);
    }),
  );
});

test('a cursor is refused for any other list', () => {
  for (const made of lists)
    for (const read of lists)
      assert.equal(cursors.read(cursors.write(made, 7n), read), made === read ? 7n : null);
});

/** Yields a cursor with each of its bits changed in turn. */
function* listChanged(text: string): Generator<string> {
  const bytes = Buffer.from(text, 'base64url');
  for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    yield changed.toString('base64url');
  }
}

test('a cursor is refused if any of its bits was changed', () => {
  for (const changed of listChanged(cursors.write(soldPets, 7n)))
    assert.equal(cursors.read(changed, soldPets), null);
});

test('a cursor of a store with another secret is refused', () => {
  const other = createCursors(Buffer.alloc(32, 2));
  assert.equal(cursors.read(other.write('/pets', 7n), '/pets'), null);
});

test('a cursor has only one valid spelling', () => {
  const text = cursors.write('/pets', -1n);
  const [start, last = ''] = [text.slice(0, -1), text.at(-1)];
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=.~ ';
  for (const character of alphabet)
    if (character !== last) assert.equal(cursors.read(start + character, '/pets'), null, character);
});

test('a cursor with another length is refused', () => {
  const text = cursors.write('/pets', 7n);
  for (const other of ['', 'A', text.slice(1), text.slice(0, -1), `${text}A`, `${text}AA==`, `${text}\0`])
    assert.equal(cursors.read(other, '/pets'), null, other);
});

test('cursors have the same encoding as in the first release', () => {
  assert.equal(cursors.write('/pets', 7n), 'AwAAAAAAAAAHrpNcM3hdUcEN5A');
  assert.equal(cursors.write('/pets?status=available', 7n), 'AAAAAAAAAAAHpyW4Z4YkiPI3-Q');
  assert.equal(cursors.write('/pets?status=pending', 7n), 'AQAAAAAAAAAHe7kbsb7Ko_D1fA');
  assert.equal(cursors.write(soldPets, 7n), 'AgAAAAAAAAAHA4Qx9akuXVBL0Q');
});

test('a cursor has the same rules if its position is a string', () => {
  const text = cursors.write('/keys', 'k7');
  assert.equal(text, 'BWs3HI3t97uTKEj20Q');
  const unit = fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(fc.string({ unit, minLength: 1, maxLength: 40 }), (position) => {
      assert.equal(cursors.read(cursors.write('/keys', position), '/keys'), position);
    }),
  );
  assert.equal(cursors.read(text, '/categories'), null);
  assert.equal(createCursors(Buffer.alloc(32, 2)).read(text, '/keys'), null);
  for (const changed of listChanged(text)) assert.equal(cursors.read(changed, '/keys'), null);
  for (const other of [`${text}=`, `${text} `, `.${text}`, cursors.write('/keys', '')])
    assert.equal(cursors.read(other, '/keys'), null, other);
  for (let length = 0; length < text.length; length += 1)
    assert.equal(cursors.read(text.slice(0, length), '/keys'), null);
});

test('a cursor keeps the type of its position', () => {
  assert.equal(cursors.read(cursors.write('/keys', '8 bytes.'), '/keys'), '8 bytes.');
  assert.equal(cursors.read(cursors.write('/keys', 7n), '/keys'), 7n);
});
