import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertAccount } from '../../src/accounts/account-rows.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import type { Database } from '../../src/storage/database.ts';
import { openCatalogue, petValues } from '../support/catalogue.ts';
import { describeOnEngines, findPostgres } from '../support/engines.ts';
import { insertWindow, selectSubjects } from './window-rows.ts';

const postgres = await findPostgres();

const rex = { name: 'Rex', categoryId: 1n, status: 'sold' } as const;
const order = {
  name: 'a',
  plan: 'free',
  per_minute: null,
  per_day: null,
  open_holds: null,
  created_at_ms: 0n,
};

/** SQL that makes the schema newer than the program. */
const addLaterMigration = `insert into schema_migrations values ('9999-later', '2030-01-01T00:00:00.000Z')`;

await describeOnEngines('opening a store', (engine) => {
  test('ten instances that start at once on an empty store all start', async (t) => {
    const store = await engine.createEmptyStore(t);
    const instances = await Promise.all(Array.from({ length: 10 }, () => store.open()));
    await Promise.all(
      instances.map((database, index) => database.run(insertWindow, { subject: `${index}`, used: 1n })),
    );
    for (const database of instances) assert.equal((await database.read(selectSubjects, {})).length, 10);
  });

  test('running instances continue when the schema becomes newer than the program', async (t) => {
    const store = await engine.createStore(t);
    const database = await store.open();
    const catalogue = openCatalogue(database);
    const [account] = await database.run(insertAccount, order);
    const bytes = new Uint8Array(32);
    const once = { accountId: account?.id ?? 0n, keyHash: bytes, operation: 'createPet', bodyHash: bytes };
    const work = async () => {
      await catalogue.add(rex);
      const { answer } = await catalogue.addOnce(rex, once, '/pets/');
      assert.equal(answer.status, 201);
      return (await catalogue.list({ limit: 100, status: null, newestId: null })).items.length;
    };
    assert.equal(await work(), 2);
    for (const table of ['pets', 'accounts', 'api_keys', 'first_answers'])
      await store.execute(`alter table ${table} add column later text not null default 'later'`);
    await store.execute('create index later on pets (later, id)');
    await store.execute(addLaterMigration);
    assert.equal(await work(), 3);
  });

  test('a start fails with one line if the schema is newer than the program', async (t) => {
    const store = await engine.createStore(t);
    await store.execute(addLaterMigration);
    await assert.rejects(store.open(), {
      name: 'OperatorError',
      message: /^[^\n]*newer than this program[^\n]*9999-later[^\n]*$/,
    });
  });
});

await describeOnEngines('ids', (engine) => {
  test('the id of the newest animal is not reused after the animal was deleted directly in the database', async (t) => {
    const store = await engine.createStore(t);
    const first = await store.open();
    const deleted = await addPet(first);
    await store.execute('delete from pets');
    assert.ok((await addPet(first)) > deleted);
    await first.close();
    await store.execute('delete from pets');
    assert.ok((await addPet(await store.open())) > deleted + 1n);
  });
});

async function addPet(database: Database): Promise<bigint> {
  const [row] = await database.run(insertPet, petValues({ name: 'Rex', categoryId: 1n, status: 'sold' }));
  assert.ok(row !== undefined);
  return row.id;
}

test('the store ignores tables of the same names in another schema', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createEmptyStore(t);
  await store.execute('create schema auth');
  for (const table of ['schema_migrations', 'schema_migrations_lock', 'pets'])
    await store.execute(`create table auth.${table} (version text)`);
  await (await store.open()).close();
  await addPet(await store.open());
});

test('a store is found in its schema, even if another schema now precedes it in the search path', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  await (await store.open()).close();
  await store.execute('create schema authorization current_user');
  await store.execute(
    `insert into public.schema_migrations values ('9999-later', '2030-01-01T00:00:00.000Z')`,
  );
  await assert.rejects(store.open(), /newer than this program/);
});
