import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { Client } from 'pg';
import { openDatabase } from '../../src/storage/open-database.ts';
import type { Ending } from './service.ts';
import { afterTestRun, testRun } from './test-run.ts';

/** Returns TEST_DATABASE_URL or the server on this machine. The default user is the user of this process. */
export function readPostgresAddress(): URL {
  const address = new URL(process.env['TEST_DATABASE_URL'] ?? 'postgres://127.0.0.1:5432/postgres');
  if (address.username === '') address.username = userInfo().username;
  return address;
}

/** PostgreSQL limits names to 63 bytes. */
const prefix = `animal_store_test_${testRun.slice(0, 16)}_`;

export interface PostgresDatabase {
  readonly url: string;
  /** Ends the use of the database by the test. */
  release(): Promise<void>;
}

export const createEmptyPostgres = (server: URL) => createDatabase(server, 'template0');

/**
 * Creates a database with the newest schema, no content and a secret of its own. It is a copy of one database, which
 * the first call in a run makes.
 */
export async function createPostgresStore(server: URL): Promise<PostgresDatabase> {
  const template = `${prefix}template`;
  await connect(server.href, async (client) => {
    // Several processes may come at the same time. The end of the connection releases the lock.
    await client.query(`select pg_advisory_lock(hashtext('${testRun}'))`);
    const { rowCount } = await client.query(`select from pg_database where datname = '${template}'`);
    if (rowCount === 0) await makeTemplate(client, server, template);
  });
  const store = await createDatabase(server, template);
  await executePostgres(store.url, 'update secrets set value = sha256(gen_random_uuid()::text::bytea)');
  return store;
}

let isAnyMade = false;
afterTestRun(async () => {
  if (isAnyMade) await dropPostgresDatabases();
});

/** Gives the database its name only when it is complete. */
async function makeTemplate(client: Client, server: URL, template: string): Promise<void> {
  isAnyMade = true;
  const { url } = await createDatabase(server, 'template0');
  await (await openDatabase(url)).close();
  await client.query(`alter database ${new URL(url).pathname.slice(1)} rename to ${template}`);
}

/** The release drops the database, even if it has open connections. */
async function createDatabase(server: URL, template: string): Promise<PostgresDatabase> {
  const name = `${prefix}${randomUUID().slice(0, 8)}`;
  await executePostgres(server.href, `create database ${name} template ${template} encoding 'UTF8'`);
  return {
    url: Object.assign(new URL(server), { pathname: `/${name}` }).href,
    async release() {
      await executePostgres(server.href, `drop database ${name} with (force)`);
    },
  };
}

export async function dropPostgresDatabases(): Promise<void> {
  await connect(readPostgresAddress().href, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      `select datname from pg_database where starts_with(datname, '${prefix}')`,
    );
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
  });
}

/** Runs SQL on a new connection. Returns the rows if the SQL is a single statement. */
export function executePostgres<Row = unknown>(url: string, sql: string): Promise<Row[]> {
  return connect(url, async (client) => (await client.query(sql)).rows);
}

/** Opens a connection of a test's own. Ends it after the test. */
export async function connectPostgres(test: Ending, url: string): Promise<Client> {
  const client = await openClient(url);
  test.after(() => client.end());
  return client;
}

async function openClient(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  // A test may kill the server.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

async function connect<T>(url: string, task: (client: Client) => Promise<T>): Promise<T> {
  const client = await openClient(url);
  try {
    return await task(client);
  } finally {
    await client.end();
  }
}
