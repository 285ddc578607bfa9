import assert from 'node:assert/strict';
import { readdir, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { loadPets } from '../../../src/pets/load-pets.ts';
import { backupSqlite } from '../../../src/storage/sqlite/backup.ts';
import { openConnection } from '../../../src/storage/sqlite/connection.ts';
import { openSqlite } from '../../../src/storage/sqlite/database.ts';
import { useStore } from '../../../src/storage/transfer/copy-store.ts';
import { addWindow, selectSubjects, unavailable } from '../../contracts/window-rows.ts';
import { makeFolder } from '../../support/service.ts';

async function openFile(t: TestContext) {
  const folder = join(await makeFolder(t), 'data');
  const path = join(folder, 'store.db');
  const database = await openSqlite(path);
  t.after(() => database.close());
  return { folder, path, database };
}

test('only its owner can read a new store and its write-ahead log, whatever the umask', async (t) => {
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  const { folder, database } = await openFile(t);
  await addWindow(database, 'one');
  const names = await readdir(folder);
  assert.ok(names.includes('store.db-wal'));
  for (const name of names) assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name);
});

test('a backup has its write-ahead log as soon as it is opened, so that the log is known', async (t) => {
  const folder = await makeFolder(t);
  const [path, copy] = [join(folder, 'store.db'), join(folder, 'copy.db')];
  await (await openSqlite(path)).close();
  await backupSqlite(path, copy);
  assert.deepEqual(
    (await readdir(folder)).filter((name) => name.startsWith('copy')),
    ['copy.db'],
  );
  using connection = openConnection(copy, 0).raw;
  assert.equal(connection.isOpen, true);
  assert.ok((await readdir(folder)).includes('copy.db-wal'));
});

test('only writes fail while the file is moved away', async (t) => {
  const { folder, database } = await openFile(t);
  await addWindow(database, 'before');
  await rename(folder, `${folder}-elsewhere`);
  await assert.rejects(addWindow(database, 'meanwhile'), unavailable);
  assert.equal((await database.read(selectSubjects, {})).length, 1);
  await rename(`${folder}-elsewhere`, folder);
  await addWindow(database, 'after');
  const kept = (await database.read(selectSubjects, {})).map(({ subject }) => subject);
  assert.deepEqual(kept, ['after', 'before']);
});

test('a load fails if the file was replaced meanwhile', async (t) => {
  const { path, database } = await openFile(t);
  async function* rows() {
    yield [{ name: 'Rex', categoryId: 1n }];
    for (const ending of ['', '-wal', '-shm']) await rename(path + ending, `${path}-elsewhere${ending}`);
    await (await openSqlite(path)).close();
  }
  await assert.rejects(loadPets(database, rows()), unavailable);
});

test('a copy to a store fails if its file was replaced meanwhile', async (t) => {
  const { path } = await openFile(t);
  const copying = useStore(`sqlite:${path}`, async () => {
    for (const ending of ['', '-wal', '-shm']) await rename(path + ending, `${path}-elsewhere${ending}`);
    await (await openSqlite(path)).close();
  });
  await assert.rejects(copying, unavailable);
});

for (const [what, spoil] of [
  ['the store was deleted', (path: string) => rm(path)],
  ['its -wal was deleted', (path: string) => rm(`${path}-wal`)],
  ['another file replaced the store', (path: string) => replace(path, (name) => writeFile(name, ''))],
  ['the file at its path cannot be read', (path: string) => replace(path, (name) => symlink(name, name))],
] as const)
  test(`writes fail if ${what}`, async (t) => {
    const { path, database } = await openFile(t);
    await spoil(path);
    await assert.rejects(addWindow(database, 'a'), unavailable);
  });

async function replace(path: string, make: (path: string) => Promise<void>): Promise<void> {
  await rename(path, `${path}-old`);
  await make(path);
}

test('writes fail within a second if another file replaced the -wal', async (t) => {
  const { path, database } = await openFile(t);
  await rename(`${path}-wal`, `${path}-old`);
  await writeFile(`${path}-wal`, '');
  const untilMs = performance.now() + 60_000;
  let failure: unknown = null;
  for (let number = 1; failure === null && performance.now() < untilMs; number += 1)
    failure = await addWindow(database, `a${number}`).then(
      () => null,
      (error: unknown) => error,
    );
  assert.equal((failure as { code?: string } | null)?.code, 'unavailable');
});
