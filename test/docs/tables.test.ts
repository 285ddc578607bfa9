import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { auditActions } from '../../src/audit/audit-log.ts';
import { errorCodes, errorStatus } from '../../src/errors.ts';
import { findAnchors, readDocument, readTable, root } from './markdown.ts';

const errors = await readDocument('docs/errors.md');

/** Returns the first column of a table, without the marks of code. */
async function listNames(path: string, heading: string): Promise<string[]> {
  return readTable(await readDocument(path), heading).map(([name = '']) => name.replaceAll('`', ''));
}

test('docs/operations/keys-and-accounts.md lists exactly the actions of the audit log', async () => {
  const listed = await listNames('docs/operations/keys-and-accounts.md', 'What it records');
  assert.deepEqual(listed, auditActions);
});

test('docs/decisions/libraries.md has a reason for exactly the dependencies of the project', async () => {
  const path = 'docs/decisions/libraries.md';
  assert.deepEqual(await listNames(path, 'At run time'), Object.keys(manifest.dependencies));
  assert.deepEqual(await listNames(path, 'For building and testing'), Object.keys(manifest.devDependencies));
});

test('docs/errors.md lists exactly the error codes, each with its status', () => {
  const listed = readTable(errors, 'All codes').map(([code, status]) => [code, Number(status)]);
  const actual = errorCodes.map((code) => [`[\`${code}\`](#${code})`, errorStatus[code]]);
  assert.deepEqual(listed, actual);
});

test('every error code has its own heading, with its cause and its solution', () => {
  const anchors = findAnchors(errors);
  for (const code of errorCodes) {
    assert.ok(anchors.has(code), code);
    const [, section = ''] = errors.split(`### ${code}\n`);
    const [text = ''] = section.split(/^#/m);
    assert.match(text, /^Cause: \S/m, code);
    assert.match(text, /^Cure: \S/m, code);
  }
});

test('test/README.md leads to the tests of each room', async () => {
  const readme = await readDocument('test/README.md');
  const listFolders = async (path: string) => {
    const entries = await readdir(join(root, path), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  };
  const [rooms, folders] = [await listFolders('src'), await listFolders('test')];
  const named = readTable(readme, 'Rooms with tests in other folders');
  const others = readTable(readme, 'Folders without a room');
  const findFolders = ([cell = '']: string[]) =>
    Array.from(cell.matchAll(/`(\w+)\/`/g), ([, name = '']) => name);
  for (const room of rooms)
    assert.ok(folders.includes(room) || named.some((row) => findFolders(row).includes(room)), room);
  const apart = folders.filter((folder) => !rooms.includes(folder));
  assert.deepEqual(others.flatMap(findFolders).sort(), apart.sort());
  for (const [, tests = ''] of named)
    for (const [, path = ''] of tests.matchAll(/`([^`]*)`/g))
      assert.ok(globSync(join(root, 'test', path)).length > 0, path);
});
