import { Client, type ClientBase, type ClientConfig, type QueryConfig, type QueryResult } from 'pg';
import { secondMs } from '../../clock.ts';
import { parsePostgresHosts, readPostgresParameters } from '../../postgres-address.ts';
import { valueTypes } from './batch.ts';
import { requireChannelBinding } from './channel-binding.ts';
import { noteCancelledWaits, requireConfirmed } from './confirmation.ts';
import { throwStorageError } from './faults.ts';

/** Timeout in ms for opening a connection, unless the address sets another one. */
export const connectMsMax = 2_000;

/** First word of the application name of every connection. A name of the address or of PGAPPNAME comes after it. */
export const applicationName = 'animal-store';

interface Settings extends ClientConfig {
  /** True if the server must sign the connection in with channel binding. */
  readonly mustBind?: boolean;
}

/** What the types of the driver omit: the settings of a connection, which include those of the environment. */
interface Named {
  readonly connectionParameters: { application_name?: string };
}

/** A connection, to be created with `connectionSettings`. */
export class StoreClient extends Client {
  constructor(settings: Settings = {}) {
    super(settings);
    const { connectionParameters } = this as unknown as Named;
    connectionParameters.application_name = [applicationName, connectionParameters.application_name]
      .filter(Boolean)
      .join(' ');
    noteCancelledWaits(this);
    if (settings.mustBind) requireChannelBinding(this.connection);
  }
}

/** Returns the time in ms in which a connection must open: that of the address, or else `msMax`. */
export function readConnectMs(url: string, msMax = connectMsMax): number {
  const seconds = readPostgresParameters(url).get('connect_timeout');
  return seconds === null ? msMax : Number(seconds) * secondMs;
}

/** Returns the settings of every connection to the server at `url`, which names one host. */
export function connectionSettings(url: string): Settings {
  // The driver reads `sslmode` as libpq does only with this parameter, and otherwise prints a warning.
  const parameters = readPostgresParameters(url);
  const connectionString = parameters.has('sslmode') ? `${url}&uselibpqcompat=true` : url;
  const binding = parameters.get('channel_binding') ?? 'disable';
  return {
    connectionString,
    connectionTimeoutMillis: readConnectMs(url),
    enableChannelBinding: binding !== 'disable',
    mustBind: binding === 'require',
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

/** Returns SQL that turns off the timeouts that a role or a database may set, as far as the server knows them. */
export function removeLimits(of: 'session' | 'transaction'): string {
  return `select set_config(name, '0', ${of === 'transaction'}) from pg_settings where name in (
    'statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout',
    'transaction_timeout')`;
}

/** Creates a connection that is not open yet. If it is lost, the current or the next statement fails. */
export function createClient(url: string, settings: ClientConfig = {}): Client {
  const client = new StoreClient({ ...connectionSettings(url), ...settings });
  client.on('error', () => undefined);
  return client;
}

/** Sends SQL. Throws AppError `unavailable` for a fault, otherwise the driver's own error. */
export async function send(client: ClientBase, sql: QueryConfig): Promise<QueryResult> {
  const result = await client.query(sql).catch(throwStorageError);
  requireConfirmed(client);
  return result;
}
