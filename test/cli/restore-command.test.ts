import assert from 'node:assert/strict';
import { statSync, watch } from 'node:fs';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { createWorld, expectMistake, runInProcess } from '../support/command-line.ts';
import { type Ending, startService, type TestService } from '../support/service.ts';

/** Creates a store with the animals 1 and 2, backs it up, and then adds the animal 3. */
async function prepare(t: Ending) {
  const world = await createWorld(t);
  const backup = join(world.folder, 'backup.db');
  const add = (name: string) =>
    world.execute(
      `insert into pets (name, category_id, status, is_owned) values ('${name}', 1, 'available', 0)`,
    );
  add('before');
  add('kept');
  await world.print(['backup', backup]);
  add('third');
  return { ...world, backup };
}

/** Returns the only value that a query finds in a file. */
function readOne(file: string, sql: string): unknown {
  const store = new DatabaseSync(file, { readOnly: true });
  const row = store.prepare(sql).get() ?? {};
  store.close();
  return Object.values(row)[0];
}

const countPets = (file: string) => readOne(file, 'select count(*) from pets');

/** Returns all positions of the event feed: before its first event, after each event, and at the end. */
async function followAll(service: TestService, key: string): Promise<string[]> {
  const positions: string[] = [];
  for (let path = '/events?limit=1'; ; ) {
    const response = await service.request(key, path);
    const events = (await response.json()) as { id: string }[];
    positions.push(...events.map(({ id }) => id));
    if (events.length === 0) return positions;
    path = readNext(response);
  }
}

function readNext({ headers }: Response): string {
  return /<\/v1([^>]*)>/.exec(headers.get('link') ?? '')?.[1] ?? '';
}

test('a restored store has the content of the backup and no temporary file beside it, reuses no id, and answers earlier event positions with 410', async (t) => {
  const { folder, path, backup, url, print, readJson } = await prepare(t);
  const before = await startService(t, { DATABASE_URL: url });
  const key = await before.createKey();
  await before.stop();
  await print(['backup', backup, '--force']);
  const writing = await startService(t, { DATABASE_URL: url });
  const late = await writing.post(key, { name: 'late', categoryId: 1 });
  const last = ((await late.json()) as { id: number }).id;
  const positions = await followAll(writing, key);
  assert.equal(positions.length, 4);
  await writing.stop();
  assert.equal(await print(['restore', backup]), `restored the store ${path} from ${backup}\n`);
  assert.ok(!(await readdir(folder)).some((name) => name.includes('restoring')));

  const [entry] = await readJson('audit');
  assert.partialDeepStrictEqual(entry, { action: 'store.restored', subject: backup });
  const after = await startService(t, { DATABASE_URL: url });
  const pets = (await (await after.request(key, '/pets')).json()) as { name: string }[];
  assert.deepEqual(
    pets.map(({ name }) => name),
    ['third', 'kept', 'before'],
  );
  assert.equal((await after.request(key, `/pets/${last}`)).status, 404);
  for (const position of positions)
    assert.equal((await after.request(key, `/events?after=${position}`)).status, 410, position);
  const next = readNext(await after.request(key, '/events?after=now'));
  const added = (await (await after.post(key, { name: 'after', categoryId: 1 })).json()) as { id: number };
  assert.ok(added.id > last);
  const events = (await (await after.request(key, next)).json()) as { id: string }[];
  assert.equal(events.length, 1);
  assert.ok((events[0]?.id ?? '') > (positions.at(-1) ?? ''));
});

test('restore refuses a store that a service uses, and leaves the store unchanged', async (t) => {
  const { url, run, backup } = await prepare(t);
  const service = await startService(t, { DATABASE_URL: url });
  const line = /^error: .*store\.db is being served, migrated or restored: stop the service first\n$/;
  expectMistake(await run(['restore', backup]), 1, line);
  assert.equal(await service.countPets(), 3);
});

test('restore creates a store that does not exist, with a warning about skipped ids', async (t) => {
  const { folder, backup } = await prepare(t);
  const file = join(folder, 'new', 'other.db');
  const { code, stderr } = await runInProcess(['restore', backup, '--json'], `sqlite:${file}`);
  assert.equal(code, 0);
  const warning =
    /^warning: the ids assigned since the backup are unknown: the next 1000000 ids of each kind/;
  assert.match(stderr, warning);
  assert.ok(Number(readOne(file, "select seq from sqlite_sequence where name = 'pets'")) >= 1_000_000);
});

test('a new store has pages of 2,048 bytes, and a backup is restored whatever its page size is', async (t) => {
  const { folder, path, backup, print } = await prepare(t);
  assert.equal(readOne(path, 'pragma page_size'), 2_048);
  const older = join(folder, 'older.db');
  const copy = new DatabaseSync(backup);
  copy.exec(`pragma page_size = 4096; vacuum into '${older}'`);
  copy.close();
  assert.equal(readOne(older, 'pragma page_size'), 4_096);
  await print(['restore', older]);
  assert.equal((await runInProcess(['restore', backup], `sqlite:${older}`)).code, 0);
  assert.deepEqual([path, older].map(countPets), [2, 2]);
});

test('restore refuses a file that is not a backup, and leaves the store unchanged', async (t) => {
  const { folder, path, backup, run } = await prepare(t);
  const place = (name: string) => join(folder, name);
  await writeFile(place('text.db'), 'This is a text of more than a hundred bytes. '.repeat(100));
  await writeFile(place('empty.db'), '');
  const other = new DatabaseSync(place('other.db'));
  other.exec('create table animals (id integer)');
  other.close();
  const newer = new DatabaseSync(backup);
  newer.exec(`insert into schema_migrations values ('9999-newer', '2030-01-01T00:00:00.000Z')`);
  newer.close();
  const noBackup = /^error: .* is not a backup of a store\n$/;
  for (const [file, line] of [
    [place('text.db'), noBackup],
    [place('empty.db'), noBackup],
    [place('other.db'), noBackup],
    [folder, noBackup],
    ['/nowhere/backup.db', /there is no file/],
    [backup, /is a backup of a newer release/],
  ] as const)
    expectMistake(await run(['restore', file]), 1, line);
  assert.equal(countPets(path), 3);
});

test('a command that writes during a restore is given no id a second time', async (t) => {
  const { path, backup, run } = await prepare(t);
  const store = new DatabaseSync(path, { timeout: 0 });
  t.after(() => store.close());
  const insert = store.prepare(`insert into pets (name, category_id, status, is_owned)
    values ('during', 1, 'available', 0)`);
  const ids: number[] = [];
  let isOver = false;
  const restoring = run(['restore', backup]).finally(() => {
    isOver = true;
  });
  for (let isLast = false; !isLast; ) {
    isLast = isOver;
    try {
      ids.push(Number(insert.run().lastInsertRowid));
    } catch (error) {
      assert.match(String(error), /database is locked/);
    }
    await new Promise(setImmediate);
  }
  const { code, stderr } = await restoring;
  assert.deepEqual([code, stderr], [0, '']);
  assert.ok(ids.length > 1);
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(store.prepare('pragma integrity_check').get()?.['integrity_check'], 'ok');
});

test('restore gives a new store, and its temporary copy, no wider permissions than the backup has', async (t) => {
  const { folder, backup } = await prepare(t);
  await chmod(backup, 0o400);
  const inside = join(folder, 'new');
  await mkdir(inside);
  const modes = new Map<string, string>();
  const watcher = watch(inside, (_, name) => {
    const found = statSync(join(inside, name ?? ''), { throwIfNoEntry: false });
    if (found?.size) modes.set(name ?? '', (found.mode & 0o777).toString(8));
  });
  t.after(() => watcher.close());
  const { code } = await runInProcess(['restore', backup], `sqlite:${join(inside, 'other.db')}`);
  assert.equal(code, 0);
  assert.equal(modes.get('other.db-restoring'), '600');
  assert.equal((await stat(join(inside, 'other.db'))).mode & 0o777, 0o600);
});
