import assert from 'node:assert/strict';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { openDatabase } from '../../src/storage/open-database.ts';
import { addPet, readContents } from '../contracts/store-contents.ts';
import { expectMistake, readCommand, runInProcess } from '../support/command-line.ts';
import { runProgram } from '../support/processes.ts';
import { makeFolder, startService } from '../support/service.ts';

/** Opens a store with two animals, in a folder that has only the files of SQLite. */
async function createWorld(t: TestContext) {
  const folder = await makeFolder(t);
  const url = `sqlite:${join(folder, 'store.db')}`;
  const store = await openDatabase(url);
  t.after(() => store.close());
  await addPet(store);
  await addPet(store);
  const file = join(await makeFolder(t), 'backup.db');
  return { url, store, path: join(folder, 'store.db'), file, folder: join(file, '..') };
}

/** Runs a backup that must fail with one line and exit code 1, and must leave no new file in the folder. */
async function expectRefusal(url: string, args: readonly string[], line: RegExp): Promise<void> {
  const folder = join(args[0] ?? '', '..');
  const before = await readdir(folder);
  expectMistake(await runInProcess(['backup', ...args], url), 1, line);
  assert.deepEqual(await readdir(folder), before);
}

describe('backup', () => {
  test('copies an open store into one file, reports its size, also with --json, and stands in the audit log', async (t) => {
    const { url, store, file, folder } = await createWorld(t);
    const before = await readContents(store);
    const { code, stdout, stderr } = await runInProcess(['backup', file], url);
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^copied the store to .*backup\.db \(0\.\d MiB\) and checked it\n$/);
    assert.deepEqual(await readdir(folder), ['backup.db']);
    const copy = await openDatabase(`sqlite:${file}`);
    t.after(() => copy.close());
    assert.deepEqual(await readContents(copy), before);
    assert.equal(await addPet(copy), 3n);
    const other = join(folder, 'other.db');
    const again = await runInProcess(['backup', other, '--json'], url);
    const { size: bytes } = await stat(other);
    assert.deepEqual(JSON.parse(again.stdout), { file: other, bytes });
    const [entry] = await readCommand<object[]>(['audit'], url);
    assert.partialDeepStrictEqual(entry, { action: 'store.backed_up', subject: other, after: { bytes } });
  });

  test('made while a service adds animals has every add that was answered before the backup', async (t) => {
    const service = await startService(t);
    const key = await service.createKey();
    const answered: number[] = [];
    let isOver = false;
    const writers = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const added = await service.post(key, { name: 'Rex', categoryId: 1 });
        answered.push(((await added.json()) as { id: number }).id);
      }
    });
    while (answered.length < 100) await new Promise(setImmediate);
    const before = [...answered];
    const file = join(await makeFolder(t), 'backup.db');
    const settings = { DATABASE_URL: service.config.databaseUrl };
    assert.equal((await runProgram(['backup', file], { settings })).code, 0);
    assert.ok(answered.length > before.length, 'the service continued to write');
    isOver = true;
    await Promise.all(writers);
    const copy = new DatabaseSync(file, { readOnly: true });
    t.after(() => copy.close());
    const kept = new Set(
      copy
        .prepare('select id from pets')
        .all()
        .map(({ id }) => id),
    );
    assert.deepEqual(
      before.filter((id) => !kept.has(id)),
      [],
    );
  });

  test('makes a copy that only its owner can read, even of a store and over a file that others can read', async (t) => {
    const { url, path, file } = await createWorld(t);
    await writeFile(file, 'mine');
    await expectRefusal(url, [file], /exists already: --force replaces it/);
    for (const mode of [0o666, 0o640, 0o600]) {
      await chmod(path, mode);
      assert.equal((await runInProcess(['backup', file, '--force'], url)).code, 0);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      await chmod(file, 0o644);
    }
  });

  test('reports a damaged store and leaves no copy', async (t) => {
    const { url, store, path, file } = await createWorld(t);
    await store.close();
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0xff, 4_096));
    await expectRefusal(url, [file], /cannot be opened: database disk image is malformed/);
  });

  test('fails and leaves no copy if a row of the store violates a constraint', async (t) => {
    const { url, path, file } = await createWorld(t);
    const database = new DatabaseSync(path);
    database.exec(`pragma ignore_check_constraints = on; update pets set status = 'lost' where id = 1`);
    database.close();
    await expectRefusal(url, [file], /the copy is damaged: CHECK constraint failed in pets/);
  });

  test('refuses an empty name of a file', async (t) => {
    const { url } = await createWorld(t);
    const line = /^error: the name of the file to write is empty\n/;
    expectMistake(await runInProcess(['backup', ''], url), 2, line);
  });
});
