import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { auditActions } from '../../src/audit/audit-log.ts';
import { errorCodes, errorStatus } from '../../src/errors.ts';
import { consoleOperations } from '../../src/operator/console/console.ts';
import { runInProcess, unopened } from '../support/command-line.ts';
import { findAnchors, readDocument, readTable, root } from './markdown.ts';

const errors = await readDocument('docs/errors.md');

const listQuestions = async () =>
  readTable(await readDocument('docs/operations/README.md'), 'Questions of support');

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

test('each question of support has a command of the program', async () => {
  for (const [question = '', command = ''] of await listQuestions()) {
    // The words in capitals stand for values.
    const words = command.replaceAll('`', '').replace('minute N', 'minute 600').split(' ');
    const { code, stderr } = await runInProcess([...words, '--help'], unopened);
    assert.deepEqual([code, stderr], [0, ''], question);
  }
});

test("each question of support has an operation of the operator's API, except for what only the shell may read", async () => {
  const addresses = new Set<string>(consoleOperations.map(({ address }) => address));
  const missing = (await listQuestions()).filter(
    ([, , , address = '']) => !addresses.has(address.slice(1, -1)),
  );
  const commands = missing.map(([, command]) => command);
  assert.deepEqual(commands, ['`accounts export NAME`', '`profile --cpu 10s`']);
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
    assert.ok(
      folders.includes(room) || named.some((row) => findFolders(row).includes(room)),
      `test/README.md has no tests of ${room}/`,
    );
  const apart = folders.filter((folder) => !rooms.includes(folder));
  assert.deepEqual(others.flatMap(findFolders).sort(), apart.sort());
  for (const [, tests = ''] of named)
    for (const [, path = ''] of tests.matchAll(/`([^`]*)`/g))
      assert.ok(globSync(join(root, 'test', path)).length > 0, path);
});
