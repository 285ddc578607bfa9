import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'pg';
import { findPostgres } from './engines.ts';
import { executePostgres, readPostgresAddress, takePostgresDatabase } from './postgres-databases.ts';

const { skip } = await findPostgres();
const server = readPostgresAddress();
const describeAll = `select nspname, nspowner, nspacl::text, (
    select count(*)::int from pg_class where relnamespace = pg_namespace.oid
  ) as tables, (
    select count(*)::int from pg_db_role_setting join pg_database on pg_database.oid = setdatabase
    where datname = current_database()
  ) as settings
  from pg_namespace where nspname !~ '^pg_|^information_schema$'`;

test('a released database is in the same state as a new database', { skip }, async () => {
  const database = await takePostgresDatabase(server);
  const asNew = await executePostgres(database.url, describeAll);
  const name = new URL(database.url).pathname.slice(1);
  await executePostgres(
    database.url,
    `create table public.pets (id int); create schema other; create table other.pets (id int);
     create function public.wait() returns int language sql as 'select 1'`,
  );
  await executePostgres(database.url, `alter database ${name} set statement_timeout = 1000`);
  await database.release();
  const next = await takePostgresDatabase(server);
  assert.equal(next.url, database.url);
  assert.deepEqual(await executePostgres(next.url, describeAll), asNew);
  await next.release();
});

for (const [what, change] of [
  ['that allows no connections', 'alter database NAME allow_connections false'],
  ['that limits its connections', 'alter database NAME connection limit 5'],
  ['with changed privileges', 'revoke connect on database NAME from public'],
  ['that belongs to another role', 'create role NAME; alter database NAME owner to NAME'],
] as const)
  test(`a database ${what} is not reused for the next test`, { skip }, async (t) => {
    const database = await takePostgresDatabase(server);
    const name = new URL(database.url).pathname.slice(1);
    t.after(() => executePostgres(server.href, `drop role if exists ${name}`));
    for (const sql of change.replaceAll('NAME', name).split('; ')) await executePostgres(server.href, sql);
    await database.release();
    const next = await takePostgresDatabase(server);
    assert.notEqual(next.url, database.url);
    await next.release();
  });

test('a database with a connected client is not reused for the next test', { skip }, async (t) => {
  const database = await takePostgresDatabase(server);
  const client = new Client({ connectionString: database.url });
  const isCut = new Promise((resolve) => client.on('error', resolve));
  t.after(() => client.end());
  await client.connect();
  await database.release();
  await isCut;
  const next = await takePostgresDatabase(server);
  assert.notEqual(next.url, database.url);
  await next.release();
});
