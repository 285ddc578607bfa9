import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDatabase } from '../../../src/storage/open-database.ts';
import { whyNoMounts, withMounts } from '../../support/mounts.ts';
import { runProgram } from '../../support/processes.ts';
import { makeFolder } from '../../support/service.ts';

const skip = whyNoMounts();

const settingsFor = (path: string) => ({
  ENVIRONMENT: 'staging',
  PORT: '0',
  OPS_PORT: '0',
  DATABASE_URL: `sqlite:${path}`,
});

const commands = [
  ['serve'],
  ['keys', 'list'],
  ['import', '-', '--format', 'csv'],
  ['migrate'],
  ['backup', '/tmp/copy.db'],
];

test('every command refuses a store on a FUSE file system with the reason', { skip }, async (t) => {
  const folder = await makeFolder(t);
  const settings = settingsFor(join(folder, 'store.db'));
  for (const args of commands) {
    const { code, stderr } = await runProgram(args, { settings, wrapper: withMounts({ fuse: folder }) });
    const refusal =
      /^error: the database .* cannot be opened: it is on a file system of the type fuse, [^\n]*\n$/;
    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, refusal);
  }
});

test('the doctor reports a store on a FUSE file system as a problem', { skip }, async (t) => {
  const folder = await makeFolder(t);
  const settings = settingsFor(join(folder, 'store.db'));
  const { code, stdout } = await runProgram(['doctor'], { settings, wrapper: withMounts({ fuse: folder }) });
  assert.equal(code, 1);
  assert.match(stdout, /^problem +store +.*not safe to open: it is on a file system of the type fuse/m);
});

test('ALLOW_FILE_SYSTEM insists on a type of file system that is refused', { skip }, async (t) => {
  const folder = await makeFolder(t);
  const run = (ALLOW_FILE_SYSTEM: string) => {
    const settings = { ...settingsFor(join(folder, 'store.db')), ALLOW_FILE_SYSTEM };
    return runProgram(['migrate'], { settings, wrapper: withMounts({ fuse: folder }) });
  };
  assert.match((await run('nfs')).stderr, /it is on a file system of the type fuse/);
  // No program serves this mount, so the store cannot be opened there.
  assert.match((await run('fuse')).stderr, /cannot be opened: EACCES/);
});

for (const type of ['tmpfs', 'overlay'] as const)
  test(`a store on ${type} is opened`, { skip }, async (t) => {
    const folder = await makeFolder(t);
    const at = join(folder, 'at');
    await mkdir(at);
    const settings = settingsFor(join(at, 'store.db'));
    const wrapper = withMounts(type === 'tmpfs' ? { tmpfs: at } : { overlay: at });
    const { code, stderr } = await runProgram(['migrate'], { settings, wrapper });
    assert.deepEqual([code, stderr], [0, '']);
  });

test('a store is refused if locks on files do nothing there', async (t) => {
  const folder = await makeFolder(t);
  const library = join(folder, 'no-locks.so');
  const source = join(import.meta.dirname, '../../support/no-locks.c');
  const { status } = spawnSync('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl']);
  if (status !== 0) return t.skip('SKIPPED: no C compiler builds the file system without locks');
  const settings = { ...settingsFor(join(folder, 'store.db')), LD_PRELOAD: library };
  const { code, stderr } = await runProgram(['migrate'], { settings });
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: the database .* cannot be opened: locks on files do not work there: [^\n]*\n$/,
  );
});

test('the check of the locks leaves no file beside the store', async (t) => {
  const folder = await makeFolder(t);
  await (await openDatabase(`sqlite:${join(folder, 'store.db')}`)).close();
  assert.deepEqual(await readdir(folder), ['store.db']);
});

test('a path that is no regular file is refused as a store', async (t) => {
  const pipe = join(await makeFolder(t), 'store.db');
  spawnSync('mkfifo', [pipe]);
  const { code, stderr } = await runProgram(['migrate'], { settings: settingsFor(pipe) });
  assert.equal(code, 1);
  assert.match(stderr, /^error: the database .* cannot be opened: it is not a regular file\n$/);
});
