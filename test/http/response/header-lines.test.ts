import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitLines, toLines } from '../../../src/http/response/header-lines.ts';

test('a header with a line break or another character that HTTP does not allow is refused', () => {
  for (const headers of [
    { a: 'b\r\nc: d' },
    { a: 'b\nc' },
    { a: 'ÿ–' },
    { 'a b': 'c' },
    { 'a:': 'b' },
    { '': 'b' },
    { a: undefined as unknown as string },
  ])
    assert.throws(() => toLines(headers), TypeError, JSON.stringify(headers));
});

test('header lines are split into names and values', () => {
  const lines = toLines({ a: 'b', 'c-d': 'é: x' });
  assert.equal(lines, 'a: b\r\nc-d: é: x\r\n');
  assert.deepEqual(splitLines(lines), ['a', 'b', 'c-d', 'é: x']);
});
