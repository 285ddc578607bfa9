import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, realpath, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { OperatorError } from '../../../src/errors.ts';
import { openDatabase } from '../../../src/storage/open-database.ts';
import { insertWindow, selectSubjects } from '../../contracts/window-rows.ts';
import { makeFolder } from '../../support/service.ts';

/** Creates a link, in a separate folder, to a link to the path of a store. */
async function makeLink(t: TestContext) {
  const folder = await realpath(await makeFolder(t));
  const [path, link] = [join(folder, 'data', 'store.db'), join(folder, 'links', 'link.db')];
  await mkdir(join(folder, 'data'));
  await mkdir(join(folder, 'links'));
  await symlink('../data/store.db', join(folder, 'links', 'inner.db'));
  await symlink('inner.db', link);
  return { folder, path, link };
}

async function open(t: TestContext, path: string) {
  const database = await openDatabase(`sqlite:${path}`);
  t.after(() => database.close());
  return database;
}

test('opening a link opens the store that the link leads to', async (t) => {
  const { path, link } = await makeLink(t);
  const byLink = await open(t, link);
  await byLink.run(insertWindow, { subject: 'a', used: 1n });
  assert.ok(existsSync(`${path}-wal`));
  const byPath = await open(t, path);
  assert.equal((await byPath.read(selectSubjects, {})).length, 1);
});

test('circular links are refused with one line', async (t) => {
  const { folder } = await makeLink(t);
  const [one, other] = [join(folder, 'one'), join(folder, 'other')];
  await symlink(other, one);
  await symlink(one, other);
  await assert.rejects(openDatabase(`sqlite:${one}`), OperatorError);
});
