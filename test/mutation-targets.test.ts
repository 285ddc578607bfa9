import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { targets } from '../mutation/targets.ts';

test('every target of mutation testing names existing files', () => {
  for (const { name, file, tests } of targets) {
    assert.ok(tests.length > 0, name);
    for (const path of [file, ...tests]) assert.ok(existsSync(join(import.meta.dirname, '..', path)), path);
  }
});

test('the page has the score of exactly the targets', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/mutation-testing.md'), 'utf8');
  const rows = page.matchAll(/^\| `(?<file>[^`]+)` \|/gm).map(({ groups }) => groups?.['file']);
  assert.deepEqual(
    rows.toArray(),
    targets.map(({ file }) => file),
  );
});
