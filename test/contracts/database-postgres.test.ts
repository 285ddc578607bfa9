import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OutcomeUnknownError } from '../../src/errors.ts';
import { findPostgres } from '../support/engines.ts';
import { startRelay } from '../support/relay.ts';
import { describeDatabase } from './database.ts';
import { describeLoad } from './database-load.ts';
import { describeOpening } from './database-opening.ts';

const postgres = await findPostgres();
describeDatabase(postgres);
describeLoad(postgres);
describeOpening(postgres);

test('the store ignores tables of the same names in another schema', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  await store.execute('create schema auth');
  for (const table of ['schema_migrations', 'schema_migrations_lock', 'pets'])
    await store.execute(`create table auth.${table} (version text)`);
  await (await store.open()).close();
  const again = await store.open();
  assert.equal(await again.load('pets', ['name', 'category_id', 'status', 'is_owned'], rexes()), 1);
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
  assert.equal(await database.load('pets', ['name', 'category_id', 'status', 'is_owned'], rexes()), 1);
});

test('a load fails with OutcomeUnknownError if its connection is lost during the commit', {
  skip: postgres.skip,
}, async (t) => {
  const store = await postgres.createStore(t);
  const relay = await startRelay(t, store.url);
  const database = await store.open(relay.url);
  await assert.rejects(
    database.load('pets', ['name', 'category_id', 'status', 'is_owned'], rexes(), {
      onWrite: () => void relay.cut(),
    }),
    OutcomeUnknownError,
  );
});

test('a load that the server refuses fails with the reason', { skip: postgres.skip }, async (t) => {
  const database = await (await postgres.createStore(t)).open();
  async function* broken() {
    yield [['Rex', 1n, 'lost', 0n]];
  }
  const loading = database.load('pets', ['name', 'category_id', 'status', 'is_owned'], broken());
  await assert.rejects(loading, /pets_status_check/);
});

async function* rexes() {
  yield [['Rex', 1n, 'available', 0n]];
}
