import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');

test('npm prints no engine warnings on a host whose own Node.js is older', async (t) => {
  const folder = await makeFolder(t);
  const { name, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name, version, engines: { node: '>=9999' } }),
  );
  // `npm test` passes its own settings on.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([variable]) => !/^npm_/i.test(variable)),
  );
  const install = () =>
    spawnSync('npm', ['install', '--dry-run', '--offline'], { cwd: folder, encoding: 'utf8', env }).stderr;
  assert.match(install(), /EBADENGINE/, 'npm warns without the settings of this package');
  await copyFile(join(root, '.npmrc'), join(folder, '.npmrc'));
  assert.equal(install(), '');
});
