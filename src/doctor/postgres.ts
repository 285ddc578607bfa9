import type { Client } from 'pg';
import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { reasonOf } from '../errors.ts';
import { formatBytes } from '../format.ts';
import { createClient, describeServer } from '../storage/postgres/client.ts';
import { askSession } from '../storage/postgres/pooler.ts';
import { askRequirements } from '../storage/postgres/requirements.ts';
import { findPrimary } from '../storage/postgres/servers.ts';
import { type Finding, ok, problem, warnUnless } from './finding.ts';
import { type ContentSettings, checkContent, compareClocks, type Query } from './store.ts';

/** The oldest major version of PostgreSQL with which the service is tested. */
const majorMin = 15;
/** For each query. */
const answerMsMax = 3_000;

/** Checks a PostgreSQL server and the store on it. Changes nothing. A start asks for the same requirements. */
export async function checkPostgres(
  url: string,
  { databaseConnections, ...settings }: ContentSettings & Pick<Config, 'databaseConnections'>,
  clock: Clock,
): Promise<Finding[]> {
  const server = `PostgreSQL ${describeServer(url)}`;
  try {
    const primary = await findPrimary(url);
    const client = createClient(primary, { query_timeout: answerMsMax });
    try {
      await client.connect();
      const query: Query = async (sql, values = []) => (await client.query<object>(sql, [...values])).rows;
      const readClock = async () => Number((await query(clockSql)).flatMap(Object.values)[0]);
      const findings = [
        ...(await checkServer(primary, client, server, databaseConnections)),
        await compareClocks('PostgreSQL', readClock),
      ];
      return findings.some(isUnreadable)
        ? findings
        : [...findings, ...(await checkContent('postgres', query, settings, clock))];
    } finally {
      // A server that does not answer must not delay the caller.
      void client.end();
    }
  } catch (error) {
    const todo = 'check that the server runs, that DATABASE_URL names it, and that its user may connect';
    return [problem('store', `${server} cannot be used: ${reasonOf(error)}`, todo)];
  }
}

/** Without rights or tables, the queries of the content would fail. */
function isUnreadable({ check, verdict }: Finding): boolean {
  return verdict === 'problem' && (check === 'rights' || check === 'parts');
}

const clockSql = 'select (extract(epoch from clock_timestamp()) * 1000)::float8';
const stateSql = `
  select current_setting('server_version') as version,
    array(select name from pg_settings
      where name in ('fsync', 'full_page_writes') and setting = 'off' order by name) as unsafe,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
    (select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()) as open,
    pg_database_size(current_database()) as bytes`;

interface State {
  readonly version: string;
  /** The settings that let the server lose a commit in a crash or a power failure. */
  readonly unsafe: readonly string[];
  /** Maximum number of connections of all unprivileged users together, and the number of open ones. */
  readonly most: bigint;
  readonly open: bigint;
  readonly bytes: bigint;
}

async function checkServer(
  url: string,
  client: Client,
  server: string,
  databaseConnections: number,
): Promise<Finding[]> {
  const [state] = (await client.query<State>(stateSql)).rows;
  if (state === undefined) throw new Error('it does not answer');
  const query = async (sql: string) => (await client.query<object>(sql)).rows;
  const asked = await askRequirements(query, databaseConnections);
  const requirements = [await askSession(url, client), ...asked.requirements];
  const { version, most, open, bytes } = state;
  const unsafe = state.unsafe.join(', ');
  return [
    warnUnless(
      Number.parseInt(version, 10) >= majorMin,
      'store',
      `${server} answers, version ${version}`,
      `move to PostgreSQL ${majorMin} or newer: older ones are not tested`,
    ),
    ...requirements.map(({ check, is, todo }) => (todo === null ? ok(check, is) : problem(check, is, todo))),
    unsafe === ''
      ? ok('durability', 'a commit is on disk before it is confirmed')
      : problem(
          'durability',
          `off: ${unsafe}; a crash of the server can lose writes that the service answered`,
          `set ${unsafe} to on, for this database, this user and the server`,
        ),
    warnUnless(
      Number(most - open) >= databaseConnections,
      'connections',
      `${open} of ${most} connections are open; an instance takes up to ${databaseConnections}`,
      'raise max_connections, or see in pg_stat_activity which clients keep connections open',
    ),
    ok('size', `the database takes ${formatBytes(Number(bytes))}; autovacuum gives unused space back`),
  ];
}
