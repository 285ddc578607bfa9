import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { after } from 'node:test';
import { Client } from 'pg';

/** Returns TEST_DATABASE_URL or the server on this machine. The default user is the user of this process. */
export function readPostgresAddress(): URL {
  const address = new URL(process.env['TEST_DATABASE_URL'] ?? 'postgres://127.0.0.1:5432/postgres');
  if (address.username === '') address.username = userInfo().username;
  return address;
}

/** An empty database for one test. */
export interface PostgresDatabase {
  readonly url: string;
  /** Empties the database for the next test. Drops it if a client is connected, or if more than its content changed. */
  release(): Promise<void>;
  /** Drops the database, even if it has open connections. */
  drop(): Promise<void>;
}

/** Released databases by server. To create and drop a database takes about 1 s, to empty it about 0.1 s. */
const released = new Map<string, PostgresDatabase[]>();

after(async () => {
  for (const database of [...released.values()].flat()) await database.drop();
});

/** Returns a database that a test of this process has released, or creates one. */
export async function takePostgresDatabase(server: URL): Promise<PostgresDatabase> {
  return released.get(server.href)?.pop() ?? (await createDatabase(server));
}

async function createDatabase(server: URL): Promise<PostgresDatabase> {
  const name = `animal_store_test_${randomUUID().replaceAll('-', '')}`;
  await executePostgres(server.href, `create database ${name} template template0 encoding 'UTF8'`);
  const { href: url } = Object.assign(new URL(server), { pathname: `/${name}` });
  const database: PostgresDatabase = {
    url,
    async release() {
      if (!(await connect(server.href, (client) => isReusable(client, name)))) return await database.drop();
      await executePostgres(url, emptyDatabase);
      released.set(server.href, [...(released.get(server.href) ?? []), database]);
    },
    async drop() {
      await executePostgres(server.href, `drop database ${name} with (force)`);
    },
  };
  return database;
}

/** Returns true if no client is connected and only the user of the tests has privileges. Then resets the settings. */
async function isReusable(client: Client, name: string): Promise<boolean> {
  if (!(await isLeft(client, name)) || !(await isUnchanged(client, name))) return false;
  await client.query(`alter database ${name} reset all`);
  return true;
}

const looksMax = 100;

/** Returns true if no client is connected. Repeats the query, because the server notices a closed connection late. */
async function isLeft(client: Client, name: string): Promise<boolean> {
  for (let look = 0; look < looksMax; look += 1) {
    const { rowCount } = await client.query(`select 1 from pg_stat_activity where datname = '${name}'`);
    if (rowCount === 0) return true;
  }
  return false;
}

/** Returns true if connections are allowed as in a new database, and the test user owns it and all its objects. */
async function isUnchanged(client: Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query(`select 1 from pg_database where datname = '${name}'
    and datallowconn and datconnlimit = -1 and datacl is null and not exists (
      select 1 from pg_shdepend
      where refclassid = 'pg_authid'::regclass and refobjid <> current_user::regrole
      and (dbid = pg_database.oid or (classid = 'pg_database'::regclass and objid = pg_database.oid)))`);
  return rowCount === 1;
}

/** Drops all schemas and creates the schema `public` as in a new database. */
const emptyDatabase = `
  do $$ declare
    owner name := (select nspowner::regrole from pg_namespace where nspname = 'public');
    schema name;
  begin
    for schema in select nspname from pg_namespace where nspname !~ '^pg_|^information_schema$' loop
      execute format('drop schema %I cascade', schema);
    end loop;
    execute format('create schema public authorization %I', owner);
    grant usage on schema public to public;
  end $$`;

/** Runs SQL on a new connection. Returns the rows if the SQL is a single statement. */
export function executePostgres(url: string, sql: string): Promise<readonly unknown[]> {
  return connect(url, async (client) => (await client.query(sql)).rows);
}

async function connect<T>(url: string, task: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await task(client);
  } finally {
    await client.end();
  }
}
