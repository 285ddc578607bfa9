import assert from 'node:assert/strict';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { writeWholeFile } from '../../src/cli/whole-file.ts';
import { makeFolder } from '../support/service.ts';

const isThere = { name: 'OperatorError', message: /is there already: --force replaces it$/ };

async function makeTarget(t: TestContext) {
  const folder = await makeFolder(t);
  return { folder, file: join(folder, 'animals.csv') };
}

test('a file that another makes while one is written is not replaced', async (t) => {
  const { folder, file } = await makeTarget(t);
  const writing = writeWholeFile(file, false, async (unfinished) => {
    await writeFile(unfinished, 'ours');
    await writeFile(file, 'theirs');
  });
  await assert.rejects(writing, isThere);
  assert.equal(await readFile(file, 'utf8'), 'theirs');
  assert.deepEqual(await readdir(folder), ['animals.csv']);
});

test('of many that write one file at once one does', async (t) => {
  const { folder, file } = await makeTarget(t);
  const texts = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const told = await Promise.allSettled(
    texts.map((text) => writeWholeFile(file, false, (unfinished) => writeFile(unfinished, text))),
  );
  const written = texts.filter((_, index) => told[index]?.status === 'fulfilled');
  assert.deepEqual(written, [await readFile(file, 'utf8')]);
  assert.deepEqual(await readdir(folder), ['animals.csv']);
});

test('a link that leads nowhere is replaced by force alone', async (t) => {
  const { folder, file } = await makeTarget(t);
  await symlink(join(folder, 'nowhere'), file);
  await assert.rejects(
    writeWholeFile(file, false, () => undefined),
    isThere,
  );
  assert.deepEqual(await readdir(folder), ['animals.csv']);
  await writeWholeFile(file, true, (unfinished) => writeFile(unfinished, 'ours'));
  assert.equal(await readFile(file, 'utf8'), 'ours');
  assert.deepEqual(await readdir(folder), ['animals.csv']);
});
