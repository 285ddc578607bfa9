import { createHash } from 'node:crypto';
import { Client, type ClientBase, type ClientConfig, type QueryConfig, type QueryResult, types } from 'pg';
import { compileStatement, placeParameters } from '../compile.ts';
import type { Parameters, Statement, Work } from '../database.ts';
import { throwStorageError } from './faults.ts';

/** Integers come as bigints whatever their width, bytes as Buffers, text as it is. */
const integerOids = new Set<number>([types.builtins.INT2, types.builtins.INT4, types.builtins.INT8]);

const valueTypes: NonNullable<ClientConfig['types']> = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    integerOids.has(oid) ? BigInt : types.getTypeParser(oid, format),
};

/** How long the opening of a connection may take, or the wait for one that is free. */
export const connectMsMax = 2_000;

/** By what name the server knows the connections of this service, unless their address has another. */
export const applicationName = 'animal-store';

/** What every connection to the server at `url` has in common. */
export function connectionSettings(url: string): ClientConfig {
  return {
    connectionString: url,
    connectionTimeoutMillis: connectMsMax,
    fallback_application_name: applicationName,
    keepAlive: true,
    types: valueTypes,
  };
}

/** Where an address leads, as `host:port/database`: fit to be shown, it holds no password. */
export function describeServer(url: string): string {
  try {
    const { host, port, database } = new Client(connectionSettings(url));
    return `${host}:${port}/${database}`;
  } catch {
    return 'at that address';
  }
}

/** Takes away the time limits that a role or a database sets for those of the service, of those that the server knows. */
export function removeLimits(of: 'session' | 'transaction'): string {
  return `select set_config(name, '0', ${of === 'transaction'}) from pg_settings where name in (
    'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout',
    'transaction_timeout')`;
}

/** A connection of its own, not open yet; its loss is told to the statement that uses it, or to the next. */
export function createClient(url: string, settings: ClientConfig = {}): Client {
  const client = new Client({ ...connectionSettings(url), ...settings });
  client.on('error', () => undefined);
  return client;
}

interface Prepared {
  readonly name: string;
  readonly text: string;
  readonly names: readonly string[];
}

const prepared = new WeakMap<object, Prepared>();

/** The name follows from the text, so that every instance knows a statement by the same name. */
function prepare<P extends Parameters, R>(statement: Statement<P, R>): Prepared {
  const { sql, names } = compileStatement(statement, 'postgres');
  const name = createHash('sha256').update(sql).digest('base64url');
  const entry = { name, text: sql, names };
  prepared.set(statement, entry);
  return entry;
}

/** The rows of a statement in one round trip; the server parses it once a connection. Fails as `send` does. */
export async function query<P extends Parameters, R>(
  client: ClientBase,
  statement: Statement<P, R>,
  parameters: P,
): Promise<readonly R[]> {
  const { name, text, names } = prepared.get(statement) ?? prepare(statement);
  const { rows } = await send(client, { name, text, values: placeParameters(names, parameters) });
  return rows as R[];
}

/** Sends SQL; fails with AppError `unavailable` for a fault, else with the driver's error as it is. */
export function send(client: ClientBase, sql: QueryConfig): Promise<QueryResult> {
  return client.query(sql).catch(throwStorageError);
}

/** Runs a work to its end, inside a transaction that is open. */
export async function runWork<T>(client: ClientBase, work: Work<T>): Promise<T> {
  let next = work.next([]);
  while (!next.done) next = work.next(await query(client, next.value.statement, next.value.parameters));
  return next.value;
}
