import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorCodes, errorStatus } from '../../src/errors.ts';
import { findAnchors, readDocument, readTable } from './markdown.ts';

const document = await readDocument('docs/errors.md');

test('docs/errors.md lists exactly the error codes, each with its status', () => {
  const listed = readTable(document, 'All codes').map(([code, status]) => [code, Number(status)]);
  const actual = errorCodes.map((code) => [`[\`${code}\`](#${code})`, errorStatus[code]]);
  assert.deepEqual(listed, actual);
});

test('every error code has its own heading, with its cause and its solution', () => {
  const anchors = findAnchors(document);
  for (const code of errorCodes) {
    assert.ok(anchors.has(code), code);
    const [, section = ''] = document.split(`### ${code}\n`);
    const [text = ''] = section.split(/^#/m);
    assert.match(text, /^Cause: \S/m, code);
    assert.match(text, /^Cure: \S/m, code);
  }
});
