import { Client, type ClientBase, type ClientConfig, type QueryConfig, type QueryResult } from 'pg';
import { OperatorError } from '../../errors.ts';
import { parsePostgresHosts, readPostgresParameters } from '../../postgres-address.ts';
import { valueTypes } from './batch.ts';
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
