import assert from 'node:assert/strict';
import { statSync, watch } from 'node:fs';
import { chmod, copyFile, link, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { hourMs } from '../../src/clock.ts';
import { createWorld, expectMistake, runInProcess } from '../support/command-line.ts';
import { type Ending, makeFolder, nextOf, startService } from '../support/service.ts';

/** Creates a store with the animals 1 and 2, backs it up, and then adds the animal 3. */
async function prepare(t: Ending) {
  const world = await createWorld(t);
  const backup = join(world.folder, 'backup.db');
  const add = 'insert into pets (name, category_id, status, is_owned) values';
  world.execute(`${add} ('before', 1, 'available', 0), ('kept', 1, 'available', 0)`);
  await world.print(['backup', backup]);
  world.execute(`${add} ('third', 1, 'available', 0)`);
  return { ...world, backup };
}

function readOne(file: string, sql: string): unknown {
  using store = new DatabaseSync(file, { readOnly: true });
  return Object.values(store.prepare(sql).get() ?? {})[0];
}

function change(file: string, sql: string): void {
  using store = new DatabaseSync(file);
  store.exec(sql);
}

const countPets = (file: string) => readOne(file, 'select count(*) from pets');

test('a restored store', async (t) => {
  const { folder, path, backup, url, print, readJson } = await prepare(t);
  const before = await startService(t, { DATABASE_URL: url });
  const key = await before.createKey();
  await before.stop();
  await print(['backup', backup, '--force']);
  const writing = await startService(t, { DATABASE_URL: url });
  const late = await writing.post(key, { name: 'late', categoryId: 1 });
  const { id: last } = (await late.json()) as { id: number };
  const feed = (await (await writing.request(key, '/events?limit=100')).json()) as { id: string }[];
  assert.equal(feed.length, 4);
  await writing.stop();
  assert.equal(await print(['restore', backup]), `restored the store ${path} from ${backup}\n`);

  await t.test('has no temporary file beside it', async () => {
    assert.ok(!(await readdir(folder)).some((name) => name.includes('restoring')));
  });

  await t.test('has the restore in its audit log', async () => {
    const [entry] = await readJson('audit');
    assert.partialDeepStrictEqual(entry, { action: 'store.restored', subject: backup });
  });

  const after = await startService(t, { DATABASE_URL: url });

  await t.test('has the content of the backup', async () => {
    const pets = (await (await after.request(key, '/pets')).json()) as { name: string }[];
    const names = pets.map(({ name }) => name);
    assert.deepEqual(names, ['third', 'kept', 'before']);
    assert.equal((await after.request(key, `/pets/${last}`)).status, 404);
  });

  await t.test('answers earlier event positions with 410', async () => {
    for (const { id } of feed)
      assert.equal((await after.request(key, `/events?after=${id}`)).status, 410, id);
  });

  await t.test('gives no id or event position again', async () => {
    const next = nextOf(await after.request(key, '/events?after=now')) ?? '';
    const added = await after.post(key, { name: 'after', categoryId: 1 });
    assert.ok(((await added.json()) as { id: number }).id > last);
    const events = (await (await after.request(key, next)).json()) as { id: string }[];
    assert.equal(events.length, 1);
    assert.ok((events[0]?.id ?? '') > (feed.at(-1)?.id ?? ''));
  });
});

test('after a snapshot of the disk, a store restored with --in-place', async (t) => {
  const { folder, path, url, print, readJson } = await prepare(t);
  const copies = ['', '-wal'].map((ending) => [path + ending, join(folder, `snapshot${ending}`)] as const);
  const service = await startService(t, { DATABASE_URL: url });
  const key = await service.createKey();
  const add = async (from: typeof service, name: string) => {
    const answer = await from.post(key, { name, categoryId: 1 });
    return ((await answer.json()) as { id: number }).id;
  };
  for (const [file, copy] of copies) await copyFile(file, copy);
  const lostId = await add(service, 'lost');
  const feed = (await (await service.request(key, '/events?limit=100')).json()) as { id: string }[];
  await service.stop();
  await rm(`${path}-shm`, { force: true });
  for (const [file, copy] of copies) await copyFile(copy, file);
  assert.match(
    await print('restore --in-place'),
    /^restored the store .* in place: the next 1000000 ids of /,
  );

  await t.test('has the restore in its audit log', async () => {
    const [entry] = await readJson('audit');
    assert.partialDeepStrictEqual(entry, { action: 'store.restored', subject: path });
  });

  const after = await startService(t, { DATABASE_URL: url });

  await t.test('answers every earlier event position with 410', async () => {
    for (const { id } of feed)
      assert.equal((await after.request(key, `/events?after=${id}`)).status, 410, id);
  });

  await t.test('gives no id and no webhook-id twice', async () => {
    const next = nextOf(await after.request(key, '/events?after=now')) ?? '';
    assert.ok((await add(after, 'new')) > lostId);
    const events = (await (await after.request(key, next)).json()) as { id: string }[];
    assert.equal(events.length, 1);
    assert.ok(feed.every(({ id }) => id !== events[0]?.id));
    assert.equal(await after.countPets(), 4);
  });
});

test('restore --in-place refuses a store that a service uses', async (t) => {
  const { url, run } = await prepare(t);
  await startService(t, { DATABASE_URL: url });
  expectMistake(await run('restore --in-place'), 1, /store\.db is being served, .*: stop the service first/);
});

test('restore --in-place changes no file with a hard link, such as a snapshot by cp -al', async (t) => {
  const { folder, path, run } = await prepare(t);
  await link(path, join(folder, 'snapshot.db'));
  expectMistake(await run('restore --in-place'), 1, /the file has 2 names \(hard links\)/);
  assert.ok(Number(readOne(path, "select seq from sqlite_sequence where name = 'pets'")) < 1_000_000);
});

test('restore --in-place creates no store', async (t) => {
  const file = join(await makeFolder(t), 'none.db');
  expectMistake(
    await runInProcess('restore --in-place', `sqlite:${file}`),
    1,
    /there is no store .*none\.db/,
  );
  assert.equal(statSync(file, { throwIfNoEntry: false }), undefined);
});

test('restore needs either a file or --in-place', async (t) => {
  const { run, backup } = await prepare(t);
  for (const args of [['restore'], ['restore', backup, '--in-place']])
    expectMistake(await run(args), 2, /name either a file or --in-place/);
});

test('a restore of a store that a service uses is refused without a change', async (t) => {
  const { url, run, backup } = await prepare(t);
  const service = await startService(t, { DATABASE_URL: url });
  const line = /^error: .*store\.db is being served, migrated or restored: stop the service first\n$/;
  expectMistake(await run(['restore', backup]), 1, line);
  assert.equal(await service.countPets(), 3);
});

test('restore says that the store is locked if another program keeps its lock for too long', async (t) => {
  const { path, run, backup } = await prepare(t);
  using other = new DatabaseSync(path);
  other.exec('begin immediate');
  let nowMs = 0;
  t.mock.method(performance, 'now', () => {
    nowMs += 60_000;
    return nowMs;
  });
  const line = /^error: the database .*store\.db cannot be opened: database is locked\n$/;
  expectMistake(await run(['restore', backup]), 1, line);
});

test('restore creates a store that does not exist, with a warning about skipped ids', async (t) => {
  const { folder, backup } = await prepare(t);
  const file = join(folder, 'new', 'other.db');
  const { code, stderr } = await runInProcess(['restore', backup, '--json'], `sqlite:${file}`);
  assert.equal(code, 0);
  assert.match(stderr, /^warning: the ids assigned since the backup are unknown: the next 1000000 ids of /);
  assert.ok(Number(readOne(file, "select seq from sqlite_sequence where name = 'pets'")) >= 1_000_000);
});

test('a new store has pages of 2,048 bytes', async (t) => {
  const { path } = await prepare(t);
  assert.equal(readOne(path, 'pragma page_size'), 2_048);
});

test('a backup is restored whatever its page size is', async (t) => {
  const { folder, path, backup, print } = await prepare(t);
  const older = join(folder, 'older.db');
  change(backup, `pragma page_size = 4096; vacuum into '${older}'`);
  assert.equal(readOne(older, 'pragma page_size'), 4_096);
  await print(['restore', older]);
  assert.equal((await runInProcess(['restore', backup], `sqlite:${older}`)).code, 0);
  assert.deepEqual([path, older].map(countPets), [2, 2]);
});

test('a restore of a file that is not a backup is refused without a change', async (t) => {
  const { folder, path, backup, run } = await prepare(t);
  const place = (name: string) => join(folder, name);
  await writeFile(place('text.db'), 'This is a text of more than a hundred bytes. '.repeat(100));
  await writeFile(place('empty.db'), '');
  change(place('other.db'), 'create table animals (id integer)');
  change(backup, `insert into schema_migrations values ('9999-newer', '2030-01-01T00:00:00.000Z')`);
  const noBackup = /^error: .* is not a backup of a store\n$/;
  for (const file of [place('text.db'), place('empty.db'), place('other.db'), folder])
    expectMistake(await run(['restore', file]), 1, noBackup);
  expectMistake(await run('restore /nowhere/backup.db'), 1, /there is no file/);
  expectMistake(await run(['restore', backup]), 1, /is a backup of a newer release/);
  assert.equal(countPets(path), 3);
});

test('restore refuses and keeps the copy that a killed restore has left, until it has another name', async (t) => {
  const { folder, path, backup, run, print } = await prepare(t);
  const left = `${path}-restoring`;
  await copyFile(backup, left);
  expectMistake(await run(['restore', left]), 1, /belongs to the store itself: name another file\n$/);
  const named = join(folder, 'named.db');
  await rename(left, named);
  await print(['restore', named]);
  assert.equal(countPets(path), 2);
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

test('only its owner may read a store that restore makes, and the temporary copy, whatever the backup allows', async (t) => {
  const { folder, backup } = await prepare(t);
  await chmod(backup, 0o644);
  const inside = join(folder, 'new');
  await mkdir(inside);
  const modes = new Map<string, string>();
  const watcher = watch(inside, (_, name) => {
    const found = statSync(join(inside, name ?? ''), { throwIfNoEntry: false });
    if (found?.size) modes.set(name ?? '', (found.mode & 0o777).toString(8));
  });
  t.after(() => watcher.close());
  assert.equal((await runInProcess(['restore', backup], `sqlite:${inside}/other.db`)).code, 0);
  assert.equal(modes.get('other.db-restoring'), '600');
  assert.equal((await stat(join(inside, 'other.db'))).mode & 0o777, 0o600);
});

test('a restore names the keys that were revoked after the backup', async (t) => {
  const { folder, path, print, readJson } = await createWorld(t);
  const backup = join(folder, 'backup.db');
  const { id } = await readJson('keys create --plan free --account Zoo');
  await print(['keys', 'create', '--account', 'Zoo']);
  await print(['backup', backup]);
  await print(`keys revoke ${id}`);
  const { keysThatWorkAgain } = await readJson(`restore ${backup}`);
  assert.deepEqual(keysThatWorkAgain, [{ id, account: 'Zoo' }]);
  await print(`keys revoke ${id}`);
  assert.match(await print(['restore', backup]), new RegExp(`"keys revoke ID".*\n {2}${id} of Zoo\n$`));
  assert.ok(statSync(path).isFile());
});

for (const [kind, before, after] of [
  ['was revoked in its overlap', 'keys rotate ID --overlap 24h', 'keys revoke ID'],
  ['was rotated', null, 'keys rotate ID --overlap 24h'],
  ['got a shorter overlap', 'keys rotate ID --overlap 24h', 'keys rotate ID --overlap 1h'],
  ['belongs to an account that was suspended', null, 'accounts suspend Zoo'],
] as const)
  test(`a restore names a key that ${kind} after the backup`, async (t) => {
    const { folder, print, readJson } = await createWorld(t);
    const backup = join(folder, 'backup.db');
    const { id } = await readJson('keys create --plan free --account Zoo');
    if (before !== null) await print(before.replace('ID', id));
    await print(['backup', backup]);
    await print(after.replace('ID', id));
    const { keysThatWorkAgain } = await readJson(`restore ${backup}`);
    assert.partialDeepStrictEqual(keysThatWorkAgain, [{ id, account: 'Zoo' }]);
  });

test('a restore names no key that works as long as before', async (t) => {
  const { folder, clock, print, readJson } = await createWorld(t);
  const backup = join(folder, 'backup.db');
  const { id: ended } = await readJson('keys create --plan free --account Zoo');
  const { id: rotated } = await readJson('keys create --account Zoo');
  await print(`keys rotate ${ended} --overlap 1h`);
  await print(`keys rotate ${rotated} --overlap 24h`);
  await readJson('keys create --plan free --account Closed');
  await print('accounts suspend Closed');
  await print(['backup', backup]);
  clock.advance(2 * hourMs);
  await print(`keys revoke ${ended}`);
  assert.deepEqual((await readJson(`restore ${backup}`)).keysThatWorkAgain, []);
});

test('a restore names the operators that it brought back or whose role it changed', async (t) => {
  const { folder, print, readJson } = await createWorld(t);
  const backup = join(folder, 'backup.db');
  for (const name of ['mira', 'omar', 'nina']) await print(`operators add ${name} --role admin`);
  await print(['backup', backup]);
  for (const name of ['mira', 'omar']) await print(`operators remove ${name}`);
  await print('operators add omar');
  const { operatorsToCheck } = await readJson(`restore ${backup}`);
  assert.deepEqual(operatorsToCheck, ['mira', 'omar']);
  await print('operators remove mira');
  assert.match(await print(['restore', backup]), /"operators list".*\n {2}mira\n$/);
});

test('a restore ends every session, link and token of operators', async (t) => {
  const { folder, path, print, readJson } = await createWorld(t);
  const backup = join(folder, 'backup.db');
  await print('operators add mira');
  await print('operators token mira');
  await print('console --as mira');
  await print(['backup', backup]);
  const { sessionsEnded, operatorsToCheck } = await readJson(`restore ${backup}`);
  assert.deepEqual([sessionsEnded, operatorsToCheck], [1, []]);
  assert.deepEqual(await readJson('console --list'), []);
  assert.equal(readOne(path, 'select count(*) from console_links'), 0);
});

test('a restore in place ends the tokens of the operators, all of whom it names', async (t) => {
  const { print, readJson } = await createWorld(t);
  await print('operators add mira');
  await print('operators token mira');
  const { sessionsEnded, operatorsToCheck } = await readJson('restore --in-place');
  assert.deepEqual([sessionsEnded, operatorsToCheck], [1, ['mira']]);
  assert.deepEqual(await readJson('console --list'), []);
});

/** Creates a store with an enabled webhook and a disabled one. */
async function createWebhooks(t: Ending) {
  const world = await createWorld(t);
  const backup = join(world.folder, 'backup.db');
  await world.print('keys create --plan free --account Zoo');
  world.execute(`insert into webhooks (public_id, account_id, key_id, url, types, sees_pets, sees_orders, status, position,
      revision, failures, next_attempt_at_ms, created_at_ms) values
    ('wh_8tKq2ZmX0aLr5VnC', 1, 'key_1', 'https://zoo.example/', 'pet.added', 1, 'own', 'enabled', 0, 0, 3, 9, 0),
    ('wh_9tKq2ZmX0aLr5VnC', 1, 'key_1', 'https://zoo.example/', 'pet.added', 1, 'own', 'disabled', 0, 0, 0, 0, 0)`);
  await world.print(['backup', backup]);
  return { ...world, backup };
}

test('a restore puts the enabled webhooks on hold, at the end of the feed', async (t) => {
  const { execute, readJson, backup } = await createWebhooks(t);
  assert.equal((await readJson(`restore ${backup}`)).webhooksOnHold, 1);
  const [held] =
    execute(`select status, disabled_because as because, position - deleted_to as behind, revision, failures
    from webhooks, event_horizon where disabled_because is not null`);
  assert.deepEqual(
    { ...held },
    { status: 'disabled', because: 'restored', behind: 0, revision: 1, failures: 0 },
  );
});

test('a webhook that was on hold before a restore is counted again, and its position is kept', async (t) => {
  const { print, readJson, folder, backup } = await createWebhooks(t);
  const held = join(folder, 'held.db');
  await print(['restore', backup]);
  await print(['backup', held]);
  for (const again of [`restore ${held}`, 'restore --in-place']) {
    assert.equal((await readJson(again)).webhooksOnHold, 1, again);
    const { left } = await readJson('webhooks show wh_8tKq2ZmX0aLr5VnC');
    assert.deepEqual(left, { events: 0, hasMore: false, isPositionLost: false }, again);
  }
  const resumed = { resumed: ['wh_8tKq2ZmX0aLr5VnC'], failed: [] };
  assert.deepEqual(await readJson('webhooks resume --all'), resumed);
});
