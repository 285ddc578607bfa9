import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { openDatabase } from '../../src/storage/open-database.ts';
import type { PostgresDatabase } from './postgres-databases.ts';

// This file has a run of its own, so that no other file takes a store between two steps of a test.
delete process.env['TEST_RUN'];
const { findPostgres } = await import('./engines.ts');
const { createEmptyPostgres, executePostgres, readPostgresAddress, takePostgresStore } = await import(
  './postgres-databases.ts'
);
const { skip } = await findPostgres();
const server = readPostgresAddress();
const nameOf = ({ url }: PostgresDatabase) => new URL(url).pathname.slice(1);

/** Returns what PostgreSQL gives to a new object of the database, so that it differs for each database created. */
const readCreation = async ({ url }: PostgresDatabase) =>
  JSON.stringify(
    await executePostgres(url, 'select oid from pg_database where datname = current_database()'),
  );

const readSecrets = async ({ url }: PostgresDatabase) =>
  JSON.stringify(await executePostgres(url, 'select name, value::text from secrets'));

/** Returns the content of all tables except the secrets, and the next value of each sequence. */
async function readContent({ url }: PostgresDatabase): Promise<unknown[]> {
  const tables = await executePostgres(
    url,
    `select relname from pg_class where relkind = 'r' and oid >= 16384 and relname <> 'secrets' order by relname`,
  );
  const content: unknown[] = [];
  for (const { relname } of tables as { relname: string }[])
    content.push([relname, await executePostgres(url, `select * from ${relname}`)]);
  return [content, await executePostgres(url, 'select * from pg_sequences order by sequencename')];
}

/** Takes the store that the last test left, and the same store again after a change of it. */
async function takeAgain(change: (store: PostgresDatabase) => Promise<unknown>) {
  const store = await takePostgresStore(server);
  const before = { content: await readContent(store), creation: await readCreation(store) };
  await change(store);
  await store.release();
  const again = await takePostgresStore(server);
  const after = { content: await readContent(again), creation: await readCreation(again) };
  await again.release();
  assert.equal(again.url, store.url);
  return { before, after };
}

test('a store that a test has used gets the content of a new store', { skip }, async () => {
  const { before, after } = await takeAgain(async ({ url }) => {
    await executePostgres(
      url,
      `insert into accounts (name, plan, created_at_ms) values ('a', 'free', 0);
       insert into pets (name, category_id, status, is_owned) values ('Rex', 1, 'sold', 0);
       update event_horizon set deleted_to = 7; delete from secrets`,
    );
    await (await openDatabase(url)).close();
  });
  assert.deepEqual(after, before);
});

for (const [what, change] of [
  ['with a setting', 'alter database NAME set statement_timeout = 1000'],
  ['that belongs to another role', 'create role NAME; alter database NAME owner to NAME'],
  ['with another column', 'alter table pets add column other int'],
  ['with planner statistics', 'insert into categories values (1, $$a$$); analyze categories'],
] as const)
  test(`a store ${what} is replaced by a new store`, { skip }, async (t) => {
    const { before, after } = await takeAgain(async (store) => {
      t.after(() => executePostgres(server.href, `drop role if exists ${nameOf(store)}`));
      for (const sql of change.replaceAll('NAME', nameOf(store)).split('; '))
        await executePostgres(sql.includes('database') ? server.href : store.url, sql);
    });
    assert.notEqual(after.creation, before.creation);
    assert.deepEqual(after.content, before.content);
  });

test('a store with a connected client is replaced by a new store', { skip }, async (t) => {
  const { before, after } = await takeAgain(async ({ url }) => {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    t.after(() => client.end());
    await client.connect();
  });
  assert.notEqual(after.creation, before.creation);
});

test('two tests never have the same store, and stores have different secrets', { skip }, async () => {
  const stores = await Promise.all([takePostgresStore(server), takePostgresStore(server)]);
  assert.notEqual(stores[0].url, stores[1].url);
  assert.notEqual(await readSecrets(stores[0]), await readSecrets(stores[1]));
  for (const store of stores) await store.release();
});

test('an empty database has no tables, and is dropped when it is released', { skip }, async () => {
  const database = await createEmptyPostgres(server);
  assert.deepEqual(await executePostgres(database.url, 'select from pg_class where oid >= 16384'), []);
  await database.release();
  await assert.rejects(executePostgres(database.url, 'select 1'), { code: '3D000' });
});
