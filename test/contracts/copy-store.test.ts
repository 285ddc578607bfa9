import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { claimServing } from '../../src/storage/sqlite/claim-serving.ts';
import { listStoredMigrations } from '../../src/storage/stored-migrations.ts';
import { copyStore } from '../../src/storage/transfer/copy-store.ts';
import { type Engine, findEngines, findPostgres, type Store, sqliteEngine } from '../support/engines.ts';
import { migrateAsBefore } from '../support/older-schema.ts';
import { connectPostgres } from '../support/postgres-databases.ts';
import { eventually } from '../support/redis-server.ts';
import { addAccount, addPet, fillStore, readContents, setLastPetId } from './store-contents.ts';
import { insertWindow, selectSubjects } from './window-rows.ts';

/** Adds two tables, of which the first by name refers to the other. */
async function addForeignTables({ url, execute }: Store): Promise<void> {
  const [id, integer] = url.startsWith('sqlite:')
    ? ['integer primary key autoincrement', 'integer']
    : ['bigint generated always as identity primary key', 'bigint'];
  await execute(`create table kennels (id ${id}, name text not null)`);
  await execute(`create table cages (kennel_id ${integer} primary key references kennels (id))`);
}

/** Contract tests of src/storage/transfer/copy-store.ts for a pair of engines. */
function describeCopy(from: Engine, to: Engine): void {
  describe(`moving a store from ${from.name} to ${to.name}`, { skip: from.skip || to.skip }, () => {
    test('copies every row of every table exactly, reports its progress and changes nothing in the source', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      const original = await source.open();
      await fillStore(original);
      const before = await target.open();
      await before.run(insertWindow, { subject: 'address:192.0.2.1', used: 1n });
      await before.close();
      const contents = await readContents(original);
      await original.close();
      const told: string[] = [];
      const rows = await copyStore(source.url, target.url, (phase, done, total) =>
        told.push(`${phase} ${done} of ${total}`),
      );
      assert.deepEqual(await readContents(await target.open()), contents);
      for (const [table, count] of Object.entries(rows)) assert.equal(contents[table]?.length, count, table);
      assert.equal(rows.pets, 12_000);
      const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
      assert.equal(told.at(told.length / 2 - 1), `moving ${total} of ${total}`);
      assert.equal(told.at(-1), `checking ${total} of ${total}`);
      const again = await source.open();
      assert.deepEqual(await readContents(again), contents);
      assert.equal(await addPet(again), 12_001n);
    });

    test('copies ids beyond 2^53 so exactly that none is reused, not even that of a deleted animal', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      const original = await source.open();
      await setLastPetId(source.url, 2n ** 62n);
      await addPet(original);
      const gone = await addPet(original);
      await source.execute(`delete from pets where id = ${gone}`);
      const first = await addAccount(original, 'Zoo');
      const contents = await readContents(original);
      await original.close();
      await copyStore(source.url, target.url);
      const copy = await target.open();
      assert.deepEqual(await readContents(copy), contents);
      assert.equal(await addPet(copy), gone + 1n);
      assert.equal(await addAccount(copy, 'other'), first + 1n);
    });

    test('copies a table that no module names, after the tables to which it refers', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      for (const store of [source, target]) await addForeignTables(store);
      await source.execute(`insert into kennels (name) values ('Ark'), ('Zoo')`);
      await source.execute('insert into cages values (2)');
      await copyStore(source.url, target.url);
      const names = await target.execute<{ name: string }>(
        'select name from kennels join cages on kennel_id = id',
      );
      assert.deepEqual(
        names.map(({ name }) => name),
        ['Zoo'],
      );
      const [added] = await target.execute<{ id: unknown }>(
        `insert into kennels (name) values ('new') returning id`,
      );
      assert.equal(Number(added?.id), 3);
    });

    test('is refused if the target lacks a table of the source', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      await source.execute('create table kennels (id integer primary key)');
      const message =
        /^the store to move has tables that this release does not know: kennels; nothing was moved$/;
      await assert.rejects(copyStore(source.url, target.url), { name: 'OperatorError', message });
    });

    test('never reuses an id that the target assigned before it was emptied', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      await addPetTo(source);
      const before = await target.open();
      for (let count = 0; count < 5; count += 1) await addPet(before);
      await before.close();
      await target.execute('delete from pets');
      await copyStore(source.url, target.url);
      assert.equal(await addPet(await target.open()), 6n);
    });

    const isFull = /^[^\n]*is not empty: nothing was moved$/;
    const pet = `insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'sold', 0)`;
    for (const [what, harm, message] of [
      ['has an animal', ({ execute }) => execute(pet), isFull],
      ['has a category', ({ execute }) => execute(`insert into categories values (7, 'cats')`), isFull],
      ['has an account', async ({ open }) => addAccount(await open(), 'Zoo'), isFull],
      ['serves', ({ url }) => claimServing(url), inUse.message],
    ] as readonly [string, (target: Store) => Promise<unknown>, RegExp][])
      test(`is refused without any change if the target ${what}`, async (t) => {
        const [source, target] = [await from.createStore(t), await to.createStore(t)];
        await addPetTo(source);
        const copy = await target.open();
        const release = await harm(target);
        const before = await readContents(copy);
        await assert.rejects(copyStore(source.url, target.url), { name: 'OperatorError', message });
        assert.deepEqual(await readContents(copy), before);
        if (typeof release === 'function') release();
      });

    test('is refused if the source is served, and does not create the target', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createEmptyStore(t)];
      const end = await serve(source);
      await assert.rejects(copyStore(source.url, target.url), inUse);
      assert.deepEqual(await listStoredMigrations(target.url), []);
      await end();
      await copyStore(source.url, target.url);
    });

    const isNewer = /^the database's schema is newer than this program: [^\n]*$/;
    const isOlder = /^the store [^\n]* has the schema of an older release, 0001-first: [^\n]*$/;
    const later = `insert into schema_migrations values ('9999-later', '2030-01-01T00:00:00.000Z')`;
    for (const which of ['source', 'target'] as const) {
      test(`is refused if the ${which} has the schema of a newer release`, async (t) => {
        const stores = { source: await from.createStore(t), target: await to.createStore(t) };
        await stores[which].execute(later);
        const copying = copyStore(stores.source.url, stores.target.url);
        await assert.rejects(copying, { name: 'OperatorError', message: isNewer });
      });

      test(`is refused if the ${which} has the schema of an older release, and does not update it`, async (t) => {
        const stores = { source: await from.createStore(t), target: await to.createStore(t) };
        stores[which] = await (which === 'source' ? from : to).createEmptyStore(t);
        await migrateAsBefore(stores[which], ['0001-first']);
        const copying = copyStore(stores.source.url, stores.target.url);
        await assert.rejects(copying, { name: 'OperatorError', message: isOlder });
        assert.deepEqual(await listStoredMigrations(stores[which].url), ['0001-first']);
      });
    }
  });
}

const inUse = { name: 'OperatorError', message: /^[^\n]*(is in use|another service is serving)[^\n]*$/ };

async function addPetTo(store: Store): Promise<void> {
  const database = await store.open();
  await addPet(database);
  await database.close();
}

/** Uses a store as a running service does. Returns the function that ends this. */
async function serve(store: Store): Promise<() => Promise<void>> {
  const release = await claimServing(store.url);
  const database = await store.open();
  await database.read(selectSubjects, {});
  return async () => {
    await database.close();
    release();
  };
}

/** Holds a table of PostgreSQL. Returns `untilWaiting`, which waits until a move waits for the table, and `release`. */
async function holdPets(t: TestContext, url: string) {
  const client = await connectPostgres(t, url);
  await client.query('begin; lock table pets in exclusive mode');
  const waiting = `select from pg_locks where not granted and relation = 'pets'::regclass`;
  return {
    untilWaiting: () => eventually(async () => (await client.query(waiting)).rowCount === 1),
    release: () => client.query('rollback'),
  };
}

function describeHeldCopy(from: Engine, to: Engine): void {
  describe(`moving a store from ${from.name}`, { skip: from.skip || to.skip }, () => {
    test('leaves the target empty if a service starts on the source during the move', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      await addPetTo(source);
      const { untilWaiting, release } = await holdPets(t, target.url);
      const copying = copyStore(source.url, target.url);
      // It is awaited only below.
      copying.catch(() => undefined);
      await untilWaiting();
      const end = await serve(source);
      await release();
      await assert.rejects(copying, inUse);
      assert.deepEqual(await target.execute('select id from pets'), []);
      await end();
    });

    test('lets nobody write to the source', async (t) => {
      const [source, target] = [await from.createStore(t), await to.createStore(t)];
      const { untilWaiting, release } = await holdPets(t, target.url);
      const copying = copyStore(source.url, target.url);
      await untilWaiting();
      const wait = from === sqliteEngine ? '' : 'set lock_timeout = 1; ';
      const writing = source.execute(`${wait}insert into categories values (7, 'cats')`);
      await assert.rejects(writing, /database is locked|lock timeout/);
      await release();
      await copying;
      assert.deepEqual(await source.execute('select id from categories'), []);
    });
  });
}

const engines = await findEngines();
for (const from of engines) for (const to of engines) describeCopy(from, to);
const postgres = await findPostgres();
for (const from of engines) describeHeldCopy(from, postgres);
