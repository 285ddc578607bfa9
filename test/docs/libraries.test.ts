import assert from 'node:assert/strict';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { readDocument, readTable } from './markdown.ts';

const document = await readDocument('docs/decisions/libraries.md');

function listNames(heading: string): string[] {
  return readTable(document, heading).map(([name = '']) => name.replaceAll('`', ''));
}

test('docs/decisions/libraries.md has a reason for exactly the dependencies of the project', () => {
  assert.deepEqual(listNames('At run time'), Object.keys(manifest.dependencies));
  assert.deepEqual(listNames('For building and testing'), Object.keys(manifest.devDependencies));
});
