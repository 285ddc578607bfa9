import { Client } from 'pg';
import type { KeyEnvironment } from '../../accounts/api-key.ts';
import { foreignKeysSql, type Inspection, migrationsSql, newestRowSql } from '../inspection.ts';
import { compareSchema } from '../migrations/migrate.ts';
import { connectionSettings } from './client.ts';
import { createPostgresSockets } from './sockets.ts';

/** The state of a PostgreSQL server and of the store on it. */
export interface PostgresInspection extends Inspection {
  readonly version: string;
  readonly encoding: string;
  /** True if the server refuses writes, because it is a standby or set to read-only. */
  readonly isReadOnly: boolean;
  /** True if this user may create tables. Only meaningful if the store has no tables yet. */
  readonly mayCreate: boolean;
  /** True if this user may write to the tables and use their sequences, or if there are no tables yet. */
  readonly mayWrite: boolean;
  /** The settings that let the server lose a commit in a crash or a power failure. */
  readonly unsafeSettings: readonly string[];
  /** Maximum number of connections of all unprivileged users together. */
  readonly connectionsMax: number;
  /** Number of open client connections, without the connection of this inspection. */
  readonly connectionsOpen: number;
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
    current_setting('server_encoding') as encoding,
    current_setting('transaction_read_only') = 'on' or pg_is_in_recovery() as is_read_only,
    coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create,
    array(select name from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off' order by name) as unsafe,
    to_regclass('key_bans') is not null as has_schema,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections_max,
    (select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid())::int
      as connections_open`;

const clockSql = 'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now_ms';
const mayWriteSql = `select bool_and(has_table_privilege(name, 'insert, update, delete'))
    and has_sequence_privilege(pg_get_serial_sequence('pets', 'id'), 'usage') as may_write
  from unnest(array['pets', 'accounts', 'api_keys', 'orders', 'first_answers', 'usage_windows', 'key_bans']) as name`;

interface State {
  readonly version: string;
  readonly encoding: string;
  readonly is_read_only: boolean;
  readonly may_create: boolean;
  readonly unsafe: readonly string[];
  readonly has_schema: boolean;
  readonly connections_max: bigint;
  readonly connections_open: bigint;
}

/**
 * Inspects a server and the store on it. Changes nothing and leaves no connection open. Throws the driver's error if
 * the server cannot be reached, or does not answer a query within `answerMsMax`.
 */
export async function inspectPostgres(url: string, environment: KeyEnvironment): Promise<PostgresInspection> {
  const { stream, destroy } = createPostgresSockets();
  const client = new Client({ ...connectionSettings(url), query_timeout: answerMsMax, stream });
  client.on('error', () => undefined);
  const ask = async <R>(sql: string): Promise<R | undefined> => (await client.query(sql)).rows[0];
  try {
    await client.connect();
    const state = await ask<State>(stateSql);
    if (state === undefined) throw new Error('it does not answer');
    const clock = await readClock(ask);
    const { version, encoding, is_read_only: isReadOnly, may_create: mayCreate } = state;
    const migrations = state.has_schema
      ? (await client.query<{ name: string }>(migrationsSql)).rows.map(({ name }) => name)
      : [];
    const isNewest = compareSchema(migrations) === 'newest';
    const newest = isNewest ? (await ask<{ newest: bigint | null }>(newestRowSql))?.newest : null;
    const foreign = isNewest
      ? (await client.query<{ id: string }>(foreignKeysSql(environment, Date.now()))).rows
      : [];
    const mayWrite = isNewest ? (await ask<{ may_write: boolean }>(mayWriteSql))?.may_write : true;
    return {
      migrations,
      newestRowMs: newest == null ? null : Number(newest),
      foreignKeys: foreign.map(({ id }) => id),
      version,
      encoding,
      isReadOnly,
      mayCreate,
      mayWrite: mayWrite ?? false,
      unsafeSettings: state.unsafe,
      connectionsMax: Number(state.connections_max),
      connectionsOpen: Number(state.connections_open),
      ...clock,
    };
  } finally {
    // An orderly close would wait for a server that does not answer.
    destroy();
  }
}

async function readClock(ask: <R>(sql: string) => Promise<R | undefined>) {
  const sentMs = Date.now();
  const answer = await ask<{ now_ms: number }>(clockSql);
  return { clockMs: Math.round(answer?.now_ms ?? Number.NaN), askedAtMs: (sentMs + Date.now()) / 2 };
}
