import assert from 'node:assert/strict';
import promises, { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeWholeFile } from '../../src/cli/whole-file.ts';
import { makeFolder } from '../support/service.ts';

const isThere = { name: 'OperatorError', message: /exists already: --force replaces it$/ };

async function makeTarget(t: TestContext) {
  const folder = await makeFolder(t);
  const file = join(folder, 'animals.csv');
  /** Expects that the folder has only the file, with this content. */
  const expectOnly = async (content: string) => {
    assert.equal(await readFile(file, 'utf8'), content);
    assert.deepEqual(await readdir(folder), ['animals.csv']);
  };
  return { folder, file, expectOnly };
}

test('a file that another program creates during the write is not replaced', async (t) => {
  const { file, expectOnly } = await makeTarget(t);
  const writing = writeWholeFile(file, { replaces: false }, async (unfinished) => {
    await writeFile(unfinished, 'ours');
    await writeFile(file, 'theirs');
  });
  await assert.rejects(writing, isThere);
  await expectOnly('theirs');
});

test('a file that another program creates right before the last step is not replaced', async (t) => {
  const { file, expectOnly } = await makeTarget(t);
  const { link } = promises;
  t.mock.method(promises, 'link', async (from: string, to: string) => {
    await writeFile(to, 'theirs');
    await link(from, to);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  const writing = writeWholeFile(file, { replaces: false }, (unfinished) => writeFile(unfinished, 'ours'));
  await assert.rejects(writing, isThere);
  await expectOnly('theirs');
});

test('a write that fails midway leaves the old file unchanged and no other file', async (t) => {
  const { file, expectOnly } = await makeTarget(t);
  await writeFile(file, 'mine');
  const failing = writeWholeFile(file, { replaces: true }, async (unfinished) => {
    await writeFile(unfinished, 'ours');
    throw new Error('the store is gone');
  });
  await assert.rejects(failing, /the store is gone/);
  await expectOnly('mine');
});

test('a write into a folder that does not exist says so', async (t) => {
  const file = join(await makeFolder(t), 'none', 'animals.csv');
  const writing = writeWholeFile(file, { replaces: false }, () => assert.fail('nothing is written'));
  await assert.rejects(writing, /cannot be written: the folder .*none does not exist$/);
});

test('a broken link is replaced only with force', async (t) => {
  const { folder, file, expectOnly } = await makeTarget(t);
  const write = (replaces: boolean) =>
    writeWholeFile(file, { replaces }, (unfinished) => writeFile(unfinished, 'ours'));
  await symlink(join(folder, 'nowhere'), file);
  await assert.rejects(write(false), isThere);
  assert.deepEqual(await readdir(folder), ['animals.csv']);
  await write(true);
  await expectOnly('ours');
});

test('a file has its final mode before its first byte is written', async (t) => {
  const { file } = await makeTarget(t);
  await writeWholeFile(file, { replaces: false, mode: 0o600 }, async (unfinished) => {
    const { mode, size } = await stat(unfinished);
    assert.deepEqual([mode & 0o777, size], [0o600, 0]);
    await writeFile(unfinished, 'ours');
  });
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});
