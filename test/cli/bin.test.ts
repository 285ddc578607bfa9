import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { makeFolder } from '../support/service.ts';

/** Runs a program without the compile cache of the tests. */
function run(file: string, args: readonly string[]) {
  return promisify(execFile)(file, args, { env: { PATH: process.env['PATH'] } });
}

const root = join(import.meta.dirname, '../..');

/** Creates an installation of the program with its own folder for the compile cache. Returns its folder. */
async function install(t: TestContext): Promise<string> {
  const folder = await makeFolder(t);
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  await symlink(join(root, 'src'), join(folder, 'src'));
  return folder;
}

test('the compile cache is in node_modules, and a damaged one is replaced', async (t) => {
  const folder = await install(t);
  const command = [join(folder, 'bin/animal-store.js'), '--version'];
  const expected = { stdout: `${manifest.version}\n`, stderr: '' };
  assert.deepEqual(await run(process.execPath, command), expected);
  const kept = join(folder, 'node_modules/.cache/compiled');
  const found = await readdir(kept, { recursive: true, withFileTypes: true });
  const files = found.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  assert.notEqual(files.length, 0);
  for (const [index, file] of files.entries())
    await (index % 2 === 0 ? truncate(file, 100) : writeFile(file, 'spoilt'));
  assert.deepEqual(await run(process.execPath, command), expected);
});

test('the program starts without a message if the cache cannot be written', async (t) => {
  const folder = await install(t);
  await mkdir(join(folder, 'node_modules'));
  await writeFile(join(folder, 'node_modules/.cache'), 'no folder');
  const { stdout, stderr } = await run(process.execPath, [join(folder, 'bin/animal-store.js'), '--version']);
  assert.deepEqual({ stdout, stderr }, { stdout: `${manifest.version}\n`, stderr: '' });
});
