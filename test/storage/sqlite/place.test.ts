import assert from 'node:assert/strict';
import { readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Database } from '../../../src/storage/database.ts';
import { openSqlite } from '../../../src/storage/sqlite/database.ts';
import { useStore } from '../../../src/storage/transfer/whole-store.ts';
import { insertWindow, selectSubjects } from '../../contracts/window-rows.ts';
import { makeFolder } from '../../support/service.ts';

const unavailable = { name: 'AppError', code: 'unavailable' };

async function openFile(t: TestContext) {
  const folder = join(await makeFolder(t), 'data');
  const path = join(folder, 'store.db');
  const database = await openSqlite(path);
  t.after(() => database.close());
  return { folder, path, database };
}

const add = (database: Database, subject: string) => database.run(insertWindow, { subject, used: 1n });

test('only its owner can read a new store and its write-ahead log, whatever the umask', async (t) => {
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  const { folder, database } = await openFile(t);
  await add(database, 'one');
  const names = await readdir(folder);
  assert.ok(names.includes('store.db-wal'));
  for (const name of names) assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name);
});

test('writes fail while the file is moved away, and succeed once the file is back', async (t) => {
  const { folder, database } = await openFile(t);
  await add(database, 'before');
  await rename(folder, `${folder}-elsewhere`);
  await assert.rejects(add(database, 'meanwhile'), unavailable);
  await rename(`${folder}-elsewhere`, folder);
  await add(database, 'after');
  const kept = (await database.read(selectSubjects, {})).map(({ subject }) => subject);
  assert.deepEqual(kept, ['after', 'before']);
});

test('a load fails if the file was replaced meanwhile', async (t) => {
  const { path, database } = await openFile(t);
  async function* rows() {
    yield [['Rex', 1n, 'available']];
    for (const ending of ['', '-wal', '-shm']) await rename(path + ending, `${path}-elsewhere${ending}`);
    await (await openSqlite(path)).close();
  }
  await assert.rejects(database.load('pets', ['name', 'category_id', 'status'], rows()), unavailable);
});

test('a copy to a store fails if its file was replaced meanwhile', async (t) => {
  const { path } = await openFile(t);
  const copying = useStore(`sqlite:${path}`, 'write', async () => {
    for (const ending of ['', '-wal', '-shm']) await rename(path + ending, `${path}-elsewhere${ending}`);
    await (await openSqlite(path)).close();
  });
  await assert.rejects(copying, unavailable);
});

test('reads succeed while the file is moved away', async (t) => {
  const { folder, database } = await openFile(t);
  await add(database, 'before');
  await rename(folder, `${folder}-elsewhere`);
  assert.equal((await database.read(selectSubjects, {})).length, 1);
});

for (const [what, end] of [
  ['the store', ''],
  ['its -wal', '-wal'],
] as const) {
  test(`writes fail if ${what} was deleted`, async (t) => {
    const { path, database } = await openFile(t);
    await rm(path + end);
    await assert.rejects(add(database, 'a'), unavailable);
  });
}

test('writes fail if another file replaced the store', async (t) => {
  const { path, database } = await openFile(t);
  await rename(path, `${path}-old`);
  await writeFile(path, '');
  await assert.rejects(add(database, 'a'), unavailable);
});

test('writes fail if the file at the path of the store cannot be read', async (t) => {
  const { path, database } = await openFile(t);
  await rename(path, `${path}-old`);
  await symlink(path, path);
  await assert.rejects(add(database, 'a'), unavailable);
});

test('writes fail within a second if another file replaced the -wal', async (t) => {
  const { path, database } = await openFile(t);
  await rename(`${path}-wal`, `${path}-old`);
  await writeFile(`${path}-wal`, '');
  const untilMs = performance.now() + 60_000;
  let failure: unknown = null;
  for (let number = 1; failure === null && performance.now() < untilMs; number += 1)
    failure = await add(database, `a${number}`).then(
      () => null,
      (error: unknown) => error,
    );
  assert.equal((failure as { code?: string } | null)?.code, 'unavailable');
});
