import { Socket } from 'node:net';
import { Client, type ClientConfig, Pool, type PoolConfig } from 'pg';
import { keepNoStatements } from './batch.ts';
import { connectionSettings, connectMsMax, createClient, isLentByTransaction } from './client.ts';
import { createServerChoice } from './server-choice.ts';

/** Maximum number of connections that read. A write that waits takes none of them. */
export const readConnectionsMax = 4;
/** Maximum number of connections that write. */
export const writeConnectionsMax = 5;
/** Maximum number of connections of one instance, with one for questions to the server. */
export const connectionsMax = readConnectionsMax + writeConnectionsMax + 1;

/** Timeouts of the server in ms, for one statement and for one lock. */
const statementMsMax = 5_000;
const lockMsMax = 2_000;
/** Time in ms after which the server rolls back an idle transaction, so that a stuck instance keeps no locks. */
const idleInTransactionMsMax = 5_000;
const sessionSettings = {
  statement_timeout: statementMsMax,
  lock_timeout: lockMsMax,
  idle_in_transaction_session_timeout: idleInTransactionMsMax,
};
/** Timeout of the client in ms for a response. The server's own is shorter, so the server or the connection is dead. */
const answerMsMax = 6_000;
/** Connections are closed after this time, so that new ones follow a server that moved. */
const idleMsMax = 60_000;
const lifetimeSeconds = 1_800;

/** Names the server process of a connection. A process id alone may come again. */
const sessionName = `concat_ws(' ', pid, extract(epoch from backend_start))`;
/**
 * With these settings, each side notices within 25 s that the other one is lost: the server ends its process, and the
 * client drops an idle connection.
 */
const settleSql = `select ${sessionName} as session,
    set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
    set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '25000', false)
  from pg_stat_activity where pid = pg_backend_pid()`;
/** Server processes that still do a statement. A process that waits for its client has lost the client's statement. */
const busySql = `select ${sessionName} as session from pg_stat_activity
  where ${sessionName} = any($1) and wait_event is distinct from 'ClientRead'`;
const keepaliveIdleMs = 10_000;

/** A connection of the pool. */
export class PooledClient extends Client {
  /** The socket can be closed even if the server does not answer. */
  readonly socket: Socket;
  /** The server process. Null if the server did not admit the connection yet, or behind a pooler. */
  session: string | null = null;
  isAdmitted = false;

  constructor(config: ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.socket = socket;
  }
}

/** The connections of one instance. */
export type Connections = ReturnType<typeof createConnections>;

/** Creates the connections of one instance, and opens none yet. `settings` override the settings above. */
export function createConnections(url: string, settings: PoolConfig) {
  const clients = new Set<PooledClient>();
  const choice = createServerChoice(url, () => {
    for (const { isAdmitted, socket } of clients) if (isAdmitted) socket.destroy();
  });

  class ChosenClient extends PooledClient {
    constructor(config: ClientConfig = {}) {
      super({ ...connectionSettings(choice.readUrl()), ...config });
      clients.add(this);
      this.socket.once('close', () => clients.delete(this));
    }
  }

  async function admit(client: PooledClient): Promise<void> {
    await choice.admit(client);
    if (isLentByTransaction(url)) keepNoStatements(client);
    else client.session = (await client.query<{ session: string }>(settleSql)).rows[0]?.session ?? null;
    client.isAdmitted = true;
  }

  const createPool = (max: number) => {
    const pool = new Pool({
      ...(isLentByTransaction(url) ? {} : sessionSettings),
      Client: ChosenClient,
      onConnect: (client) => admit(client as PooledClient),
      connectionTimeoutMillis: connectMsMax,
      keepAliveInitialDelayMillis: keepaliveIdleMs,
      query_timeout: answerMsMax,
      max,
      idleTimeoutMillis: idleMsMax,
      maxLifetimeSeconds: lifetimeSeconds,
      ...settings,
    });
    // A lost connection fails the task that uses it. The pool itself drops an idle connection that is lost.
    const ignore = () => undefined;
    pool.on('error', ignore);
    pool.on('connect', (client) => client.on('error', ignore));
    return pool;
  };

  return {
    reads: createPool(readConnectionsMax),
    writes: createPool(writeConnectionsMax),
    choice,
    /** Closes those of the connections on which the server does nothing any more. */
    dropEnded: (silent: readonly PooledClient[]) => dropEnded(choice.readUrl(), silent),
    /** Closes every connection, even if the server does not answer. Pending queries fail. */
    destroy(): void {
      for (const { socket } of clients) socket.destroy();
    },
    /** Lets the process exit even if the server has not closed every connection. */
    unref(): void {
      for (const { socket } of clients) socket.unref();
    },
  };
}

async function dropEnded(url: string, silent: readonly PooledClient[]): Promise<void> {
  const asker = createClient(url, { query_timeout: connectMsMax });
  try {
    await asker.connect();
    const { rows } = await asker.query<{ session: string }>(busySql, [silent.map(({ session }) => session)]);
    const busy = new Set(rows.map(({ session }) => session));
    for (const { session, socket } of silent) if (session === null || !busy.has(session)) socket.destroy();
  } finally {
    void asker.end();
  }
}
