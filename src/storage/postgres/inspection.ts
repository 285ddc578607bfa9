import type { KeyEnvironment } from '../../accounts/api-key.ts';
import { foreignKeysSql, type Inspection, migrationsSql, newestRowSql } from '../inspection.ts';
import { compareSchema } from '../migrations/migrate.ts';
import { createClient } from './client.ts';
import { askRequirements, type Requirement } from './requirements.ts';
import { findPrimary } from './servers.ts';

/** The state of a PostgreSQL server and of the store on it. */
export interface PostgresInspection extends Inspection {
  readonly version: string;
  /** What a start asks the server, with the answers. */
  readonly requirements: readonly Requirement[];
  /** The settings that let the server lose a commit in a crash or a power failure. */
  readonly unsafeSettings: readonly string[];
  /** Maximum number of connections of all unprivileged users together. */
  readonly connectionsMax: number;
  /** Number of open client connections, without the connection of this inspection. */
  readonly connectionsOpen: number;
  /** The size of the database. */
  readonly bytes: number;
  /**
   * The server's clock in Unix milliseconds. `askedAtMs` is this machine's clock at that moment, taken as halfway
   * between request and response.
   */
  readonly clockMs: number;
  readonly askedAtMs: number;
}

/** Timeout of each query in ms. */
const answerMsMax = 3_000;

const stateSql = `
  select current_setting('server_version') as version,
    array(select name from pg_settings
      where name in ('fsync', 'full_page_writes') and setting = 'off' order by name) as unsafe,
    to_regclass('key_bans') is not null as has_schema,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections_max,
    (select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid())::int
      as connections_open,
    pg_database_size(current_database()) as bytes`;

const clockSql = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms';

interface State {
  readonly version: string;
  readonly unsafe: readonly string[];
  readonly has_schema: boolean;
  readonly connections_max: bigint;
  readonly connections_open: bigint;
  readonly bytes: bigint;
}

/**
 * Inspects a server and the store on it. Changes nothing and leaves no connection open. Throws the driver's error if
 * the server cannot be reached, or does not answer a query within `answerMsMax`.
 */
export async function inspectPostgres(url: string, environment: KeyEnvironment): Promise<PostgresInspection> {
  const client = createClient(await findPrimary(url), { query_timeout: answerMsMax });
  const ask = async <R>(sql: string): Promise<R | undefined> => (await client.query(sql)).rows[0];
  try {
    await client.connect();
    const state = await ask<State>(stateSql);
    if (state === undefined) throw new Error('it does not answer');
    const clock = await readClock(ask);
    const migrations = state.has_schema
      ? (await client.query<{ name: string }>(migrationsSql)).rows.map(({ name }) => name)
      : [];
    const isNewest = compareSchema(migrations) === 'newest';
    const newest = isNewest ? (await ask<{ newest: bigint | null }>(newestRowSql))?.newest : null;
    const foreign = isNewest
      ? (await client.query<{ id: string }>(foreignKeysSql(environment, Date.now()))).rows
      : [];
    return {
      migrations,
      newestRowMs: newest == null ? null : Number(newest),
      foreignKeys: foreign.map(({ id }) => id),
      version: state.version,
      requirements: await askRequirements(ask),
      unsafeSettings: state.unsafe,
      connectionsMax: Number(state.connections_max),
      connectionsOpen: Number(state.connections_open),
      bytes: Number(state.bytes),
      ...clock,
    };
  } finally {
    // A server that does not answer must not delay the caller.
    void client.end();
  }
}

async function readClock(ask: <R>(sql: string) => Promise<R | undefined>) {
  const sentMs = Date.now();
  const answer = await ask<{ now_ms: number }>(clockSql);
  return { clockMs: Math.round(answer?.now_ms ?? Number.NaN), askedAtMs: (sentMs + Date.now()) / 2 };
}
