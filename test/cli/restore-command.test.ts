import assert from 'node:assert/strict';
import { statSync, watch } from 'node:fs';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { readCommand, runInProcess } from '../support/command-line.ts';
import { makeFolder, startService } from '../support/service.ts';

/** Creates a store with a key, backs it up, and then changes it. */
async function prepare(t: TestContext) {
  const folder = await makeFolder(t);
  const url = `sqlite:${join(folder, 'store.db')}`;
  const backup = join(folder, 'backup.db');
  const service = await startService(t, { DATABASE_URL: url });
  const key = await service.createKey();
  const add = async (name: string, through = service) => {
    const response = await through.post(key, { name, categoryId: 1 });
    assert.equal(response.status, 201, await response.text());
    return Number(response.headers.get('location')?.split('/').at(-1));
  };
  await add('before');
  const kept = await add('kept');
  assert.equal((await runInProcess(['backup', backup], url)).code, 0);
  return { folder, url, backup, service, key, add, kept };
}

type World = Awaited<ReturnType<typeof prepare>>;

/** Returns all positions of the event feed: before its first event, after each event, and at the end. */
async function followAll({ service, key }: World): Promise<string[]> {
  const positions: string[] = [];
  for (let path = '/events?limit=1'; ; ) {
    const response = await service.request(key, path);
    const events = (await response.json()) as { id: string }[];
    positions.push(...events.map(({ id }) => id));
    if (events.length === 0) return positions;
    path = /<\/v1([^>]*)>/.exec(response.headers.get('link') ?? '')?.[1] ?? '';
  }
}

async function restore({ url }: World, file: string) {
  return runInProcess(['restore', file], url);
}

test('a restored store has the content of the backup and no temporary file beside it, reuses no id, and answers earlier event positions with 410', async (t) => {
  const world = await prepare(t);
  const last = [await world.add('lost'), await world.add('lost too')].at(-1) ?? 0;
  const positions = await followAll(world);
  assert.equal(positions.length, 4);
  await world.service.stop();
  const { code, stderr, stdout } = await restore(world, world.backup);
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^restored the store .*store\.db from .*backup\.db\n$/);
  assert.ok(!(await readdir(world.folder)).some((name) => name.includes('restoring')));

  const [entry] = await readCommand<object[]>(['audit'], world.url);
  assert.partialDeepStrictEqual(entry, { action: 'store.restored', subject: world.backup });
  const after = await startService(t, { DATABASE_URL: world.url });
  const pets = (await (await after.request(world.key, '/pets')).json()) as { id: number; name: string }[];
  assert.deepEqual(
    pets.map(({ id, name }) => [id, name]),
    [
      [world.kept, 'kept'],
      [world.kept - 1, 'before'],
    ],
  );
  assert.equal((await after.request(world.key, `/pets/${last}`)).status, 404);
  for (const position of positions) {
    const gone = await after.request(world.key, `/events?after=${position}`);
    assert.equal(gone.status, 410, position);
  }
  const now = await after.request(world.key, '/events?after=now');
  const next = /<\/v1([^>]*)>/.exec(now.headers.get('link') ?? '')?.[1] ?? '';
  assert.ok((await world.add('after', after)) > last);
  const events = (await (await after.request(world.key, next)).json()) as { id: string }[];
  assert.equal(events.length, 1);
  assert.ok((events[0]?.id ?? '') > (positions.at(-1) ?? ''));
});

test('restore refuses a store that a service uses, and leaves the store unchanged', async (t) => {
  const world = await prepare(t);
  await world.add('late');
  const { code, stderr } = await restore(world, world.backup);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: .*store\.db is being served, migrated or restored: stop the service first\n$/,
  );
  assert.equal(await world.service.countPets(), 3);
});

test('restore creates a store that does not exist, with a warning about skipped ids', async (t) => {
  const world = await prepare(t);
  await world.service.stop();
  const url = `sqlite:${join(world.folder, 'new', 'other.db')}`;
  const { code, stderr } = await runInProcess(['restore', world.backup, '--json'], url);
  assert.equal(code, 0);
  assert.match(
    stderr,
    /^warning: the ids assigned since the backup are unknown: the next 1000000 ids of each kind/,
  );
  const after = await startService(t, { DATABASE_URL: url });
  assert.ok((await world.add('after', after)) > 1_000_000);
});

test('a new store has pages of 2,048 bytes, and a backup is restored whatever its page size is', async (t) => {
  const world = await prepare(t);
  await world.add('lost');
  await world.service.stop();
  const file = world.url.replace('sqlite:', '');
  assert.equal(readPageSize(file), 2_048);
  const older = join(world.folder, 'older.db');
  const backup = new DatabaseSync(world.backup);
  backup.exec(`pragma page_size = 4096; vacuum into '${older}'`);
  backup.close();
  assert.equal(readPageSize(older), 4_096);
  assert.equal((await restore(world, older)).code, 0);
  assert.equal((await runInProcess(['restore', world.backup], `sqlite:${older}`)).code, 0);
  assert.deepEqual([file, older].map(countPets), [2, 2]);
});

const readPageSize = (file: string) => readOne(file, 'pragma page_size');
const countPets = (file: string) => readOne(file, 'select count(*) from pets');

function readOne(file: string, sql: string): unknown {
  const store = new DatabaseSync(file, { readOnly: true });
  const row = store.prepare(sql).get() ?? {};
  store.close();
  return Object.values(row)[0];
}

test('restore refuses a file that is not a backup, and leaves the store unchanged', async (t) => {
  const world = await prepare(t);
  await world.service.stop();
  const [text, empty, other] = ['text.db', 'empty.db', 'other.db'].map((name) => join(world.folder, name));
  await writeFile(text ?? '', 'This is a text of more than a hundred bytes. '.repeat(100));
  await writeFile(empty ?? '', '');
  const database = new DatabaseSync(other ?? '');
  database.exec('create table animals (id integer)');
  database.close();
  for (const file of [text, empty, other, world.folder])
    assert.match((await restore(world, file ?? '')).stderr, /^error: .* is not a backup of a store\n$/);
  assert.match((await restore(world, '/nowhere/backup.db')).stderr, /there is no file/);
  const newer = new DatabaseSync(world.backup);
  newer.exec(`insert into schema_migrations values ('9999-newer', '2030-01-01T00:00:00.000Z')`);
  newer.close();
  assert.match((await restore(world, world.backup)).stderr, /is a backup of a newer release/);
  const after = await startService(t, { DATABASE_URL: world.url });
  assert.equal(await after.countPets(), 2);
});

test('restore says why a backup cannot be opened', async (t) => {
  const folder = await makeFolder(t);
  // SQLite opens no path of more than 512 bytes.
  const deep = join(folder, ...Array<string>(3).fill('a'.repeat(200)));
  await mkdir(deep, { recursive: true });
  const file = join(deep, 'backup.db');
  await writeFile(file, '');
  const { code, stderr } = await runInProcess(['restore', file], `sqlite:${join(folder, 'store.db')}`);
  assert.equal(code, 1);
  assert.match(stderr, /^error: the database .*backup\.db cannot be opened: unable to open database file\n$/);
});

test('a command that writes during a restore is given no id a second time', async (t) => {
  const world = await prepare(t);
  await world.service.stop();
  const store = new DatabaseSync(join(world.folder, 'store.db'), { timeout: 0 });
  t.after(() => store.close());
  const insert = store.prepare(`insert into pets (name, category_id, status, is_owned)
    values ('during', 1, 'available', 0)`);
  const ids: number[] = [];
  let isOver = false;
  const restoring = restore(world, world.backup).finally(() => {
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
  const world = await prepare(t);
  await world.service.stop();
  await chmod(world.backup, 0o400);
  const folder = join(world.folder, 'new');
  await mkdir(folder);
  const modes = new Map<string, string>();
  const watcher = watch(folder, (_, name) => {
    const found = statSync(join(folder, name ?? ''), { throwIfNoEntry: false });
    if (found?.size) modes.set(name ?? '', (found.mode & 0o777).toString(8));
  });
  t.after(() => watcher.close());
  const { code } = await runInProcess(['restore', world.backup], `sqlite:${join(folder, 'other.db')}`);
  assert.equal(code, 0);
  assert.equal(modes.get('other.db-restoring'), '600');
  assert.equal((await stat(join(folder, 'other.db'))).mode & 0o777, 0o600);
});
