import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { dayMs } from '../../src/clock.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { addPet, readContents } from '../contracts/store-contents.ts';
import { createWorld, expectMistake, readCommand, runInProcess } from '../support/command-line.ts';
import { runProgram } from '../support/processes.ts';
import { createMovableClock, makeFolder, startService } from '../support/service.ts';

/** Opens a store with two animals. `file` is a path in another, empty folder. */
async function prepare(t: TestContext) {
  const world = await createWorld(t);
  const store = await openDatabase(world.url);
  t.after(() => store.close());
  await addPet(store);
  await addPet(store);
  const target = await makeFolder(t);
  const file = join(target, 'backup.db');

  /** Runs a backup that must fail with one line and exit code 1, and must leave no new file in the folder. */
  async function expectRefusal(line: RegExp): Promise<void> {
    const before = await readdir(target);
    expectMistake(await world.run(['backup', file]), 1, line);
    assert.deepEqual(await readdir(target), before);
  }
  return { ...world, store, target, file, expectRefusal };
}

describe('backup', () => {
  test('copies an open store into one file', async (t) => {
    const { store, file, target, print } = await prepare(t);
    const before = await readContents(store);
    const copied = /^copied the store to .*backup\.db \(0\.\d MiB\) and checked it\n$/;
    assert.match(await print(['backup', file]), copied);
    assert.deepEqual(await readdir(target), ['backup.db']);
    const copy = await openDatabase(`sqlite:${file}`);
    t.after(() => copy.close());
    assert.deepEqual(await readContents(copy), before);
    assert.equal(await addPet(copy), 3n);
  });

  test('reports the size of the copy with --json', async (t) => {
    const { file, readJson } = await prepare(t);
    const told = await readJson(`backup ${file}`);
    assert.deepEqual(told, { file, bytes: (await stat(file)).size });
  });

  test('stands in the audit log with the size of the copy', async (t) => {
    const { file, print, readJson } = await prepare(t);
    await print(['backup', file]);
    const { size: bytes } = await stat(file);
    const [entry] = await readJson('audit');
    assert.partialDeepStrictEqual(entry, { action: 'store.backed_up', subject: file, after: { bytes } });
  });

  test('succeeds on a store that cannot be written, with a warning that the audit log has no entry', async (t) => {
    const { execute, file, run } = await prepare(t);
    execute("create trigger full before insert on audit begin select raise(abort, 'the disk is full'); end");
    const { code, stdout, stderr } = await run(['backup', file]);
    assert.deepEqual([code, stderr], [0, 'warning: the audit log has no entry of this: the disk is full\n']);
    assert.match(stdout, /^copied the store to /);
    const copy = await openDatabase(`sqlite:${file}`);
    t.after(() => copy.close());
    assert.equal(await addPet(copy), 3n);
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
    const rows = copy.prepare('select id from pets').all();
    const kept = new Set(rows.map(({ id }) => id));
    const lost = before.filter((id) => !kept.has(id));
    assert.deepEqual(lost, []);
  });

  test('makes a copy that only its owner can read, even of a store and over a file that others can read', async (t) => {
    const { print, path, file, expectRefusal } = await prepare(t);
    await writeFile(file, 'mine');
    await expectRefusal(/exists already: --force replaces it/);
    for (const mode of [0o666, 0o640, 0o600]) {
      await chmod(path, mode);
      await print(['backup', file, '--force']);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      await chmod(file, 0o644);
    }
  });

  test('reports a damaged store and leaves no copy', async (t) => {
    const { store, path, expectRefusal } = await prepare(t);
    await store.close();
    const bytes = await readFile(path);
    await writeFile(path, bytes.fill(0xff, 4_096));
    await expectRefusal(/cannot be opened: database disk image is malformed/);
  });

  test('fails and leaves no copy if a row of the store violates a constraint', async (t) => {
    const { execute, expectRefusal } = await prepare(t);
    execute(`pragma ignore_check_constraints = on; update pets set status = 'lost' where id = 1`);
    await expectRefusal(/the copy is damaged: CHECK constraint failed in pets/);
  });

  test('refuses an empty name of a file', async (t) => {
    const { run } = await prepare(t);
    expectMistake(await run(['backup', '']), 2, /^error: the name of the file to write is empty\n/);
  });
});

describe('backup --to', () => {
  test('keeps the newest backups of a folder and no other file of it is deleted', async (t) => {
    const { url } = await createWorld(t);
    const folder = await makeFolder(t);
    await writeFile(join(folder, 'animal-store-mine.db'), '');
    const clock = createMovableClock();
    for (let day = 0; day < 4; day += 1) {
      const { code, stderr } = await runInProcess(['backup', '--to', folder, '--keep', '2'], url, {
        clock: clock.now,
      });
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
      clock.advance(dayMs);
    }
    const names = (await readdir(folder)).sort();
    assert.equal(names.length, 3);
    assert.match(names[1] ?? '', /^animal-store-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z\.db$/);
    assert.equal((await stat(join(folder, names[1] ?? ''))).mode & 0o777, 0o600);
  });

  test('keeps the new backup even if others have later names', async (t) => {
    const { url } = await createWorld(t);
    const folder = await makeFolder(t);
    const later = [1, 2].map((day) => `animal-store-2999-01-0${day}T00-00-00-000Z.db`);
    for (const name of later) await writeFile(join(folder, name), '');
    const backup = ['backup', '--to', folder, '--keep', '2'];
    const { file, deleted } = await readCommand<{ file: string; deleted: string[] }>(backup, url);
    assert.deepEqual(deleted, [join(folder, later[0] ?? '')]);
    assert.deepEqual((await readdir(folder)).sort(), [basename(file), later[1]]);
  });

  test('goes with neither a file nor --record', async (t) => {
    const { url } = await createWorld(t);
    for (const rest of [
      ['--to', 'folder', 'file'],
      ['--record', 'name', 'file'],
      [],
      ['file', '--keep', '2'],
    ])
      assert.equal((await runInProcess(['backup', ...rest], url)).code, 2, rest.join(' '));
  });
});

test('backup - writes a store to standard output that SQLite can open', async (t) => {
  const { url, folder, execute } = await createWorld(t);
  execute(`insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'available', 0)`);
  const child = spawn(process.execPath, ['src/main.ts', 'backup', '-'], {
    env: { ...process.env, ENVIRONMENT: 'staging', DATABASE_URL: url },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const file = join(await makeFolder(t), 'copy.db');
  await writeFile(file, child.stdout);
  using copy = new DatabaseSync(file);
  assert.equal(copy.prepare('select name from pets').get()?.['name'], 'Rex');
  assert.ok(!(await readdir(folder)).some((name) => name.endsWith('.tmp')));
});

test('backup --record refuses the path of a file that does not exist', async (t) => {
  const { run, folder } = await createWorld(t);
  expectMistake(
    await run(['backup', '--record', join(folder, 'none.dump')]),
    1,
    /there is no file .*none\.dump/,
  );
});

test('backup --record notes a backup of another program', async (t) => {
  const { print, readJson } = await createWorld(t);
  await print('backup --record animal-store.dump');
  const [entry] = await readJson('audit');
  assert.partialDeepStrictEqual(entry, { action: 'store.backed_up', subject: 'animal-store.dump' });
});
