import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { Client } from 'pg';
import { openDatabase } from '../../src/storage/open-database.ts';
import { afterTestRun, testRun } from './test-run.ts';

/** Returns TEST_DATABASE_URL or the server on this machine. The default user is the user of this process. */
export function readPostgresAddress(): URL {
  const address = new URL(process.env['TEST_DATABASE_URL'] ?? 'postgres://127.0.0.1:5432/postgres');
  if (address.username === '') address.username = userInfo().username;
  return address;
}

/** PostgreSQL limits names to 63 bytes. */
const prefix = `animal_store_test_${testRun.slice(0, 16)}_`;

/** A database for one test. */
export interface PostgresDatabase {
  readonly url: string;
  /** Ends the use of the database by the test. */
  release(): Promise<void>;
}

/** Creates an empty database. Its release drops it, even if it has open connections. */
export async function createEmptyPostgres(server: URL): Promise<PostgresDatabase> {
  const name = `${prefix}empty_${randomUUID().slice(0, 8)}`;
  await executePostgres(server.href, createEmpty(name));
  return {
    url: addressOf(server, name),
    async release() {
      await executePostgres(server.href, `drop database ${name} with (force)`);
    },
  };
}

let isAnyMade = false;
afterTestRun(async () => {
  if (isAnyMade) await dropPostgresDatabases();
});

const templateNumber = -1;

/**
 * Returns a database with the newest schema, no content and its own secrets. The databases are numbered, and all
 * processes of a run share them: a database belongs to the session that has the advisory lock of its number. To
 * migrate a database takes about 0.3 s of CPU time, to restore the content of one that a test has used about 0.03 s.
 */
export async function takePostgresStore(server: URL): Promise<PostgresDatabase> {
  const holder = new Client({ connectionString: server.href });
  await holder.connect();
  try {
    const name = prefix + (await lockNumber(holder));
    const url = addressOf(server, name);
    if (!(await restoreContent(holder, name, url))) {
      await createStore(holder, server, name);
      await restoreContent(holder, name, url);
    }
    return { url, release: () => holder.end() };
  } catch (error) {
    await holder.end();
    throw error;
  }
}

async function lockNumber(holder: Client): Promise<number> {
  for (let number = 0; ; number += 1) {
    const { rows } = await holder.query<{ is_free: boolean }>(
      `select pg_try_advisory_lock(hashtext('${testRun}'), ${number}) as is_free`,
    );
    if (rows[0]?.is_free === true) return number;
  }
}

/** What a new store is like. It is kept as the comment of the database. */
interface Origin {
  readonly catalogue: string;
  /** SQL that restores the content. */
  readonly restoring: string;
}

/** Returns false if there is no such database, if a client is connected, or if more than the content has changed. */
async function restoreContent(holder: Client, name: string, url: string): Promise<boolean> {
  const origin = await readOrigin(holder, name);
  if (origin === null || !(await isLeft(holder, name))) return false;
  return await connect(url, async (client) => {
    if ((await describeCatalogue(client)) !== origin.catalogue) return false;
    await client.query(origin.restoring);
    return true;
  });
}

/** A store beyond this size is not restored: it is quicker to create one. */
const restoredBytesMax = 16 * 2 ** 20;

/** Returns null if there is no such database, if its settings, privileges, owner or statistics have changed, or if it is large. */
async function readOrigin(holder: Client, name: string): Promise<Origin | null> {
  const { rows } = await holder.query<{ origin: string | null }>(
    `select shobj_description(oid, 'pg_database') as origin from pg_database where datname = '${name}'
    and datallowconn and datconnlimit = -1 and datacl is null and pg_database_size(oid) <= ${restoredBytesMax}
    and not exists (select from pg_stat_database where datid = pg_database.oid and deadlocks > 0)
    and not exists (select from pg_db_role_setting where setdatabase = pg_database.oid)
    and not exists (
      select from pg_shdepend
      where refclassid = 'pg_authid'::regclass and refobjid <> current_user::regrole
      and (dbid = pg_database.oid or (classid = 'pg_database'::regclass and objid = pg_database.oid)))`,
  );
  const origin = rows[0]?.origin ?? null;
  return origin === null ? null : (JSON.parse(origin) as Origin);
}

const looksMax = 100;

/** Returns true if no client is connected. Repeats the query, because the server notices a closed connection late. */
async function isLeft(holder: Client, name: string): Promise<boolean> {
  for (let look = 0; look < looksMax; look += 1) {
    const { rowCount } = await holder.query(`select from pg_stat_activity where datname = '${name}'`);
    if (rowCount === 0) return true;
  }
  return false;
}

/** Each change of an object changes the `xmin` of its rows in the catalogue. A vacuum or analyze changes the sizes. */
async function describeCatalogue(client: Client): Promise<string> {
  const { rows } = await client.query<{ catalogue: string }>(`
    select sum(hashtext(line)::bigint)::text as catalogue from (
      select concat_ws(' ', 'namespace', oid, xmin) from pg_namespace where nspname !~ '^pg_(toast_)?temp_'
      union all select concat_ws(' ', 'class', oid, xmin, relpages, reltuples) from pg_class where oid >= 16384
      union all select concat_ws(' ', 'attribute', attrelid, attnum, xmin) from pg_attribute where attrelid >= 16384
      union all select concat_ws(' ', 'default', oid, xmin) from pg_attrdef
      union all select concat_ws(' ', 'index', indexrelid, xmin) from pg_index where indexrelid >= 16384
      union all select concat_ws(' ', 'constraint', oid, xmin) from pg_constraint where oid >= 16384
      union all select concat_ws(' ', 'trigger', oid, xmin) from pg_trigger
      union all select concat_ws(' ', 'function', oid, xmin) from pg_proc where oid >= 16384
      union all select concat_ws(' ', 'type', oid, xmin) from pg_type where oid >= 16384
      union all select concat_ws(' ', 'sequence', seqrelid, xmin) from pg_sequence
      union all select concat_ws(' ', 'rule', oid, xmin) from pg_rewrite where oid >= 16384
      union all select concat_ws(' ', 'extension', oid, xmin) from pg_extension
      union all select concat_ws(' ', 'statistics', starelid, staattnum) from pg_statistic where starelid >= 16384
    ) as lines (line)`);
  return rows[0]?.catalogue ?? '';
}

async function createStore(holder: Client, server: URL, name: string): Promise<void> {
  const template = `${prefix}template`;
  await holder.query(`select pg_advisory_lock(hashtext('${testRun}'), ${templateNumber})`);
  if ((await readOrigin(holder, template)) === null) await createTemplate(holder, server, template);
  await holder.query(`select pg_advisory_unlock(hashtext('${testRun}'), ${templateNumber})`);
  await holder.query(`drop database if exists ${name} with (force)`);
  await holder.query(`create database ${name} template ${template}`);
  await describeOrigin(holder, name, await readOrigin(holder, template));
}

async function createTemplate(holder: Client, server: URL, name: string): Promise<void> {
  isAnyMade = true;
  await holder.query(createEmpty(name));
  const url = addressOf(server, name);
  await (await openDatabase(url)).close();
  const origin = await connect(url, async (client) => ({
    catalogue: await describeCatalogue(client),
    restoring: await writeRestoring(client),
  }));
  await describeOrigin(holder, name, origin);
}

async function describeOrigin(holder: Client, name: string, origin: Origin | null): Promise<void> {
  await holder.query(`comment on database ${name} is ${holder.escapeLiteral(JSON.stringify(origin))}`);
}

const renewSecrets = 'update secrets set value = sha256(gen_random_uuid()::text::bytea)';

/** Writes SQL that makes the content of all tables and sequences what it is now, but with new secrets. */
async function writeRestoring(client: Client): Promise<string> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  );
  // Without triggers, also those of foreign keys.
  const steps = ['set session_replication_role = replica'];
  for (const { name } of tables) {
    const { rows } = await client.query<{ content: string | null }>(
      `select json_agg(row)::text as content from ${name} as row`,
    );
    const content = rows[0]?.content ?? null;
    steps.push(`delete from ${name}`);
    if (content !== null)
      steps.push(
        `insert into ${name} overriding system value
         select * from json_populate_recordset(null::${name}, ${client.escapeLiteral(content)})`,
      );
  }
  const { rows: sequences } = await client.query<{ step: string }>(
    `select format('select setval(%L, %s, %L)', format('%I.%I', schemaname, sequencename),
       coalesce(last_value, start_value), last_value is not null) as step from pg_sequences`,
  );
  return [...steps, renewSecrets, ...sequences.map(({ step }) => step)].join(';\n');
}

/** Drops all databases of this run. */
export async function dropPostgresDatabases(): Promise<void> {
  await connect(readPostgresAddress().href, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      `select datname from pg_database where starts_with(datname, '${prefix}')`,
    );
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
  });
}

const createEmpty = (name: string) => `create database ${name} template template0 encoding 'UTF8'`;

function addressOf(server: URL, name: string): string {
  return Object.assign(new URL(server), { pathname: `/${name}` }).href;
}

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
