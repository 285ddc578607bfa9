import { Client, type ClientBase, type ClientConfig, type QueryConfig, type QueryResult } from 'pg';
import { OperatorError } from '../../errors.ts';
import { parsePostgresHosts, readPostgresParameters } from '../../postgres-address.ts';
import type { Isolation, Step, Steps } from '../database.ts';
import { type Call, sendBatch, toCall, valueTypes } from './batch.ts';
import { throwStorageError } from './faults.ts';

/** Timeout in ms for opening a connection, and for waiting for a free connection of the pool. */
export const connectMsMax = 2_000;

/** Application name of the service's connections, unless the address sets another name. */
export const applicationName = 'animal-store';

/** Returns the settings of every connection to the server at `url`, which names one host. */
export function connectionSettings(url: string): ClientConfig {
  // The driver reads `sslmode` as libpq does only with this parameter, and otherwise prints a warning.
  const connectionString = readPostgresParameters(url).has('sslmode') ? `${url}&uselibpqcompat=true` : url;
  return {
    connectionString,
    connectionTimeoutMillis: connectMsMax,
    fallback_application_name: applicationName,
    keepAlive: true,
    types: valueTypes,
  };
}

/** Returns the servers of an address as `host:port,host:port/database`, without the password. */
export function describeServer(url: string): string {
  try {
    const clients = parsePostgresHosts(url).map((host) => new Client(connectionSettings(host.url)));
    return `${clients.map(({ host, port }) => `${host}:${port}`).join(',')}/${clients[0]?.database ?? ''}`;
  } catch {
    return 'at that address';
  }
}

/** Returns true for a pooler in transaction mode, which has no prepared statements, session settings or notices. */
export function isLentByTransaction(url: string): boolean {
  return readPostgresParameters(url).get('pgbouncer') === 'transaction';
}

/** Throws OperatorError of one line if the address names a pooler in transaction mode. `what` needs a session. */
export function requireSession(url: string, what: string): void {
  if (!isLentByTransaction(url)) return;
  throw new OperatorError(
    `${what} needs a session: set DATABASE_URL to the server, not to a pooler in transaction mode`,
  );
}

/** Returns SQL that turns off the timeouts that a role or a database may set, as far as the server knows them. */
export function removeLimits(of: 'session' | 'transaction'): string {
  return `select set_config(name, '0', ${of === 'transaction'}) from pg_settings where name in (
    'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout',
    'transaction_timeout')`;
}

/** Creates a connection that is not open yet. If it is lost, the current or the next statement fails. */
export function createClient(url: string, settings: ClientConfig = {}): Client {
  const client = new Client({ ...connectionSettings(url), ...settings });
  client.on('error', () => undefined);
  return client;
}

/** Sends SQL. Throws AppError `unavailable` for a fault, otherwise the driver's own error. */
export function send(client: ClientBase, sql: QueryConfig): Promise<QueryResult> {
  return client.query(sql).catch(throwStorageError);
}

const toTextCall = (text: string): Call => ({ name: text, text, values: [] });
const toBegin = (isolation: Isolation): Call =>
  toTextCall(`begin isolation level ${isolation === 'serializable' ? isolation : 'read committed'}`);
/** A group waits only briefly for a row that one of its transactions needs. A transaction alone waits as usual. */
const waitBriefly = toTextCall("set local lock_timeout = '50ms'");
const commit = toTextCall('commit');
/**
 * A commit waits for a synchronous standby only if its transaction has written. A transaction that changed nothing writes
 * this message to nobody, because its answer may report an earlier commit that the standby does not have yet.
 */
const waitForEarlier: Call = {
  name: 'wait for earlier commits',
  text: "select pg_logical_emit_message(true, 'animal-store', '') where pg_current_xact_id_if_assigned() is null",
  values: [],
};

/** Rolls back the transaction of a refusal. A refusal reports earlier commits too, such as a deletion, so it waits. */
export async function rollBackRefusal(client: ClientBase): Promise<void> {
  await sendBatch(client, [toTextCall('rollback'), waitForEarlier]);
}

/**
 * Runs transaction bodies side by side, the next steps of all in one round trip. With an `isolation`, they form one
 * transaction, which begins with the first steps and ends with the last. Otherwise the caller opens and ends it.
 */
export async function runSteps<T>(
  client: ClientBase,
  bodies: readonly Steps<T>[],
  isolation: Isolation | null = null,
): Promise<readonly T[]> {
  const runs = bodies.map((body) => ({ body, next: body.next([]) }));
  let opening = isolation === null ? [] : [toBegin(isolation), ...(bodies.length > 1 ? [waitBriefly] : [])];
  let isCommitted = false;
  const listOpen = () => runs.filter(({ next }) => !next.done);
  for (let open = listOpen(); open.length > 0; open = listOpen()) {
    if (isCommitted) throw new Error('a transaction has a step after its last one');
    const steps = open.map(({ next }) => next.value as readonly Step[]);
    isCommitted = isolation !== null && steps.every((sent) => sent.some(({ isLast }) => isLast));
    const calls = steps.flat().map(({ statement, parameters }) => toCall(statement, parameters));
    const results = await sendBatch(client, [...opening, ...calls, ...(isCommitted ? [commit] : [])]);
    const rows = results.slice(opening.length);
    for (const [at, run] of open.entries()) run.next = run.body.next(rows.splice(0, steps[at]?.length));
    opening = [];
  }
  if (isolation !== null && !isCommitted) await sendBatch(client, [waitForEarlier, commit]);
  return runs.map(({ next }) => next.value as T);
}
