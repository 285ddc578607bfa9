import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { copyFile, cp, mkdir, readdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { makeFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const { name, version } = manifest;
const expected = { stdout: `${version}\n`, stderr: '' };

/** Runs the program of an installation without the compile cache of the tests. */
function printVersion(folder: string) {
  const args = [join(folder, 'bin/animal-store.js'), '--version'];
  return promisify(execFile)(process.execPath, args, { env: { PATH: process.env['PATH'] } });
}

/** Creates an installation of the program with its own folder for the compile cache. Returns its folder. */
async function install(t: TestContext): Promise<string> {
  const folder = await makeFolder(t);
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  await symlink(join(root, 'src'), join(folder, 'src'));
  return folder;
}

test('the program starts with a damaged compile cache in node_modules', async (t) => {
  const folder = await install(t);
  assert.deepEqual(await printVersion(folder), expected);
  const kept = join(folder, 'node_modules/.cache/compiled');
  const found = await readdir(kept, { recursive: true, withFileTypes: true });
  const files = found.filter((file) => file.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  assert.notEqual(files.length, 0);
  for (const [index, file] of files.entries())
    await (index % 2 === 0 ? truncate(file, 100) : writeFile(file, 'spoilt'));
  assert.deepEqual(await printVersion(folder), expected);
});

test('the program starts without a message if the cache cannot be written', async (t) => {
  const folder = await install(t);
  await mkdir(join(folder, 'node_modules'));
  await writeFile(join(folder, 'node_modules/.cache'), 'no folder');
  assert.deepEqual(await printVersion(folder), expected);
});

test('npm prints no engine warnings on a host whose own Node.js is older', async (t) => {
  const folder = await makeFolder(t);
  const engines = { node: '>=9999' };
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name, version, engines }));
  // `npm test` passes its own settings on.
  const settings = Object.entries(process.env).filter(([variable]) => !/^npm_/i.test(variable));
  const options = { cwd: folder, encoding: 'utf8', env: Object.fromEntries(settings) } as const;
  const install = () => spawnSync('npm', ['install', '--dry-run', '--offline'], options).stderr;
  assert.match(install(), /EBADENGINE/, 'npm warns without the settings of this package');
  await copyFile(join(root, '.npmrc'), join(folder, '.npmrc'));
  assert.equal(install(), '');
});
