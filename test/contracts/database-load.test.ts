import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutcomeUnknownError } from '../../src/errors.ts';
import { loadPets } from '../../src/pets/load-pets.ts';
import type { NewPet } from '../../src/pets/pet.ts';
import { selectPage } from '../../src/pets/pet-rows.ts';
import { compileStatement } from '../../src/storage/compile.ts';
import { type Database, statement, step } from '../../src/storage/database.ts';
import { planSettings } from '../../src/storage/postgres/pool.ts';
import { importPets } from '../support/catalogue.ts';
import { describeOnEngines, findPostgres, openStore } from '../support/engines.ts';
import { connectPostgres } from '../support/postgres-databases.ts';
import { startRelay } from '../support/relay.ts';
import { insertWindow } from './window-rows.ts';

const postgres = await findPostgres();

const pets = Array<NewPet>(10).fill({ name: 'Rex', categoryId: 1n });

const selectPets = statement((query) => query.selectFrom('pets').select('id'));

const countPets = async (database: Database) => (await database.read(selectPets, {})).length;

/** Contract tests of `load` in src/storage/database.ts. */
await describeOnEngines('loading rows', (engine) => {
  test('a load whose source throws rethrows that error without adding anything', async (t) => {
    const { database } = await openStore(t, engine);
    const error = new Error('line 3 is bad');
    const failing = async function* () {
      yield pets;
      throw error;
    };
    await assert.rejects(loadPets(database, failing()), (thrown) => thrown === error);
    assert.equal(await countPets(database), 0);
  });

  test('a load with a row that the table refuses adds nothing', async (t) => {
    const { database } = await openStore(t, engine);
    const refused = { name: 'Rex', categoryId: 1n, status: 'lost' as 'sold' };
    await assert.rejects(importPets(database, [...pets, refused]), /constraint/);
    assert.equal(await countPets(database), 0);
  });

  test('a load neither writes nor stops other writes until its whole source was read', async (t) => {
    const { database } = await openStore(t, engine);
    const events: string[] = [];
    const source = async function* () {
      for (const subject of ['a', 'b']) {
        yield pets;
        await database.run(insertWindow, { subject, used: 1n });
        events.push(`${await countPets(database)} there`);
      }
    };
    await loadPets(database, source(), { onChecked: () => void events.push('checked') });
    assert.deepEqual(events, ['0 there', '0 there', 'checked']);
    assert.equal(await countPets(database), 20);
  });
});

test('a load ends the plans that a connection to PostgreSQL has made for an empty table', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const client = await connectPostgres(t, store.url);
  const named = { categoryId: null, ids: '[1]', newestId: 1n, count: 1n };
  const { sql } = compileStatement(selectPage(), 'postgres', named);
  await client.query(
    `select ${planSettings}; set plan_cache_mode = force_generic_plan; prepare page as ${sql}`,
  );
  const explain = async () => {
    const { rows } = await client.query(`explain execute page ('[1,2]', 1000, 21)`);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  const source = async function* () {
    // Here, because PostgreSQL ends all plans when the load creates its temporary table.
    assert.match(await explain(), /Seq Scan on pets/);
    yield Array<NewPet>(10_000).fill({ name: 'Rex', categoryId: 1n });
  };
  await loadPets(await store.open(), source());
  assert.match(await explain(), /Index Scan .*on pets/);
});

test('a load has no timeout, even if the database sets one', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const name = new URL(store.url).pathname.slice(1);
  await store.execute(`create function wait() returns trigger language plpgsql as
    'begin perform pg_sleep(1.5); return null; end'`);
  await (await store.open()).close();
  await store.execute('create trigger slow after insert on pets for each statement execute function wait()');
  for (const limit of ['idle_session_timeout', 'statement_timeout'])
    await store.execute(`alter database ${name} set ${limit} = 1000`);
  const database = await store.open();
  await importPets(database, pets);
  assert.equal(await countPets(database), 10);
});

test('a load fails with OutcomeUnknownError if its connection is lost during the commit', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const relay = await startRelay(t, store.url);
  const database = await store.open(relay.url);
  const source = async function* () {
    yield pets;
  };
  // The end of the transaction runs before the write of the new rows.
  const finish = function* () {
    yield* step(selectPets, {});
    void relay.cut();
  };
  await assert.rejects(loadPets(database, source(), { finish }), OutcomeUnknownError);
});
