import { Socket } from 'node:net';
import { Client, type ClientConfig, Pool, type PoolConfig } from 'pg';
import { keepNoStatements } from './batch.ts';
import { connectionSettings, connectMsMax } from './client.ts';
import { isLentByTransaction } from './pooler.ts';
import { createServerChoice, type ServerChoice } from './server-choice.ts';

/**
 * Maximum number of connections of one instance. Ten keep a server of several cores busy. The instances share the
 * server's `max_connections`.
 */
export const connectionsMax = 10;
/** Timeouts of the server in ms, for one statement and for one lock. */
const statementMsMax = 5_000;
const lockMsMax = 2_000;
/**
 * Time in ms after which the server rolls back an idle transaction. Otherwise an unresponsive instance would keep its
 * locks.
 */
const idleInTransactionMsMax = 5_000;
const sessionSettings = {
  statement_timeout: statementMsMax,
  lock_timeout: lockMsMax,
  idle_in_transaction_session_timeout: idleInTransactionMsMax,
};
/**
 * Timeout of the client in ms for a response. The server's own timeout is shorter, so after this time the server or
 * the connection is dead.
 */
const answerMsMax = 6_000;
/**
 * Idle connections are closed after `idleMsMax`, and all connections after `lifetimeSeconds`. New connections then
 * follow a server that moved.
 */
const idleMsMax = 60_000;
const lifetimeSeconds = 1_800;

/** The connections of one instance. */
export interface Connections {
  /** The driver's pool. A connection that it opens leads to the chosen server. */
  readonly pool: Pool;
  readonly choice: ServerChoice;
  /** Closes every connection, even if the server does not answer. Pending queries fail. */
  destroy(): void;
  /** Lets the process exit even if the server has not closed every connection. */
  unref(): void;
}

/** Opens no connection yet. `settings` override the settings above. */
export function createConnections(url: string, settings: PoolConfig): Connections {
  const clients = new Set<PooledClient>();
  const choice = createServerChoice(url, () => {
    for (const { isAdmitted, socket } of clients) if (isAdmitted) socket.destroy();
  });

  /** A connection to the chosen server. Its socket can be closed even if the server does not answer. */
  class PooledClient extends Client {
    readonly socket: Socket;
    isAdmitted = false;

    constructor(config: ClientConfig = {}) {
      const socket = new Socket();
      super({ ...connectionSettings(choice.readUrl()), ...config, stream: () => socket });
      this.socket = socket;
      clients.add(this);
      socket.once('close', () => clients.delete(this));
    }
  }

  const pool = new Pool({
    ...(isLentByTransaction(url) ? {} : sessionSettings),
    Client: PooledClient,
    async onConnect(client) {
      await choice.admit(client);
      (client as PooledClient).isAdmitted = true;
    },
    connectionTimeoutMillis: connectMsMax,
    query_timeout: answerMsMax,
    max: connectionsMax,
    idleTimeoutMillis: idleMsMax,
    maxLifetimeSeconds: lifetimeSeconds,
    ...settings,
  });
  // A lost connection fails the task that uses it. The pool itself drops an idle connection that is lost.
  const ignore = () => undefined;
  pool.on('error', ignore);
  pool.on('connect', (client) => {
    client.on('error', ignore);
    if (isLentByTransaction(url)) keepNoStatements(client);
  });

  return {
    pool,
    choice,
    destroy() {
      for (const { socket } of clients) socket.destroy();
    },
    unref() {
      for (const { socket } of clients) socket.unref();
    },
  };
}
