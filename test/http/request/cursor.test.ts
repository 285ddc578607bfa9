import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createCursors } from '../../../src/http/request/cursor.ts';
import { int64Max, int64Min } from '../../../src/int64.ts';

const cursors = createCursors(Buffer.alloc(32, 1));
const filters = ['', '?status=available', '?status=pending', '?status=sold', '?status=sold&categoryId=7'];
const lists = [...filters, '?categoryId=7', '?id=9,7'].map((query) => `/pets${query}`).concat('/categories');
const unit = fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code));
const numbers = fc.bigInt(int64Min, int64Max);
const texts = fc.string({ unit, minLength: 1, maxLength: 40 });

test('a cursor is decoded to the position from which it was encoded, with its type', () => {
  const check = (list: string, position: bigint | string) => {
    const text = cursors.write(list, position);
    if (typeof position === 'bigint') assert.match(text, /^[\w-]{26}$/);
    assert.equal(cursors.read(text, list), position);
  };
  fc.assert(fc.property(fc.constantFrom(...lists), numbers, check));
  fc.assert(fc.property(fc.constantFrom('/keys', '/keys?of=1'), fc.oneof(numbers, texts), check));
  check('/keys', '8 bytes.');
});

const made = [
  { list: '/pets', position: 7n, text: 'AwAAAAAAAAAHrpNcM3hdUcEN5A' },
  { list: '/pets?status=available', position: 7n, text: 'AAAAAAAAAAAHpyW4Z4YkiPI3-Q' },
  { list: '/pets?status=pending', position: 7n, text: 'AQAAAAAAAAAHe7kbsb7Ko_D1fA' },
  { list: '/pets?status=sold', position: 7n, text: 'AgAAAAAAAAAHA4Qx9akuXVBL0Q' },
  { list: '/keys', position: 'k7', text: 'BWs3HI3t97uTKEj20Q' },
];

test('cursors have the same encoding as in the first release', () => {
  for (const { list, position, text } of made) assert.equal(cursors.write(list, position), text);
});

test('a cursor is refused for any other list', () => {
  for (const own of lists)
    for (const read of lists)
      assert.equal(cursors.read(cursors.write(own, 7n), read), own === read ? 7n : null);
  assert.equal(cursors.read(cursors.write('/keys', 'k7'), '/categories'), null);
});

test('a cursor is refused if the name of its list is moved into its position', () => {
  for (const position of [7n, 'k7']) {
    const bytes = Buffer.from(cursors.write('/keys', position), 'base64url');
    const moved = Buffer.concat([bytes.subarray(0, -10), Buffer.from('/keys'), bytes.subarray(-10)]);
    for (const list of [...lists, '/keys'])
      assert.equal(cursors.read(moved.toString('base64url'), list), null);
  }
});

test('a cursor of a store with another secret is refused', () => {
  const other = createCursors(Buffer.alloc(32, 2));
  for (const { list, text } of made) assert.equal(other.read(text, list), null);
});

/** Yields a cursor with each of its bits changed in turn, and with other lengths and spellings. */
function* listChanged(text: string): Generator<string> {
  const bytes = Buffer.from(text, 'base64url');
  for (let bit = 0; bit < 8 * bytes.length; bit += 1) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    yield changed.toString('base64url');
  }
  for (let length = 0; length < text.length; length += 1) yield text.slice(0, length);
  yield* ['A', 'AA==', '\0', '=', ' '].map((more) => text + more);
  yield* [text.slice(1), `.${text}`];
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=.~ ';
  for (const last of alphabet) if (last !== text.at(-1)) yield text.slice(0, -1) + last;
}

test('a cursor is refused if any of its bits, its length or its spelling was changed', () => {
  for (const { list, text } of [...made, { list: '/pets', text: cursors.write('/pets', -1n) }])
    for (const changed of listChanged(text)) assert.equal(cursors.read(changed, list), null, changed);
  assert.equal(cursors.read(cursors.write('/keys', ''), '/keys'), null);
});
