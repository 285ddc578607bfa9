import { setTimeout } from 'node:timers/promises';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { storeOverloaded, storeUnavailable } from '../store-unavailable.ts';
import { keepNoStatements } from './batch.ts';
import { connectionSettings } from './client.ts';
import { isConnectionSpoilt, repeatOnConflict, throwConnectionError } from './faults.ts';
import { isLentByTransaction } from './pooler.ts';
import { createPostgresSockets } from './sockets.ts';

/** A bounded pool of connections to one server. It opens connections on demand and replaces lost connections. */
export interface PostgresPool {
  /**
   * Lends a connection to a task and returns the result of the task. If the task conflicts with another transaction,
   * it is repeated for up to `repeatMsMax`.
   *
   * Throws AppError `unavailable` if no connection is available within `connectMsMax`. Throws it at once if
   * `waitingTasksMax` tasks already wait.
   */
  lend<T>(task: (client: PoolClient) => Promise<T>): Promise<T>;
  /**
   * Waits for running tasks, at most `closeMsMax`. Tasks that are still running then fail. Closes the connections
   * without waiting for the server. Later tasks fail.
   */
  close(): Promise<void>;
}

/**
 * Maximum number of connections of one instance. Ten keep a server of several cores busy. The instances share the
 * server's `max_connections`.
 */
export const connectionsMax = 10;
/** Maximum number of tasks that wait for a connection. Each waits at most `connectMsMax`. */
export const waitingTasksMax = 1_000;

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
const repeatMsMax = 5_000;
/** Time in ms that running tasks may take after the pool closes. A server that hangs must not delay the shutdown. */
export const closeMsMax = 1_000;
/**
 * Idle connections are closed after `idleMsMax`, and all connections after `lifetimeSeconds`. New connections then
 * follow a server that moved.
 */
const idleMsMax = 60_000;
const lifetimeSeconds = 1_800;

/**
 * Creates a pool for the server at an address. The first task opens the first connection. `settings` override the
 * settings above.
 */
export function createPostgresPool(url: string, settings: PoolConfig = {}): PostgresPool {
  const sockets = createPostgresSockets();
  const pool = new Pool({
    ...connectionSettings(url),
    ...(isLentByTransaction(url) ? {} : sessionSettings),
    stream: sockets.stream,
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

  async function runTask<T>(task: (client: PoolClient) => Promise<T>): Promise<T> {
    if (pool.waitingCount >= waitingTasksMax) throw storeOverloaded();
    const client = await pool.connect().catch(throwConnectionError);
    let spoilt = false;
    try {
      return await task(client);
    } catch (error) {
      spoilt = isConnectionSpoilt(error);
      throw error;
    } finally {
      // A connection whose transaction is still open is dropped, because its rollback failed.
      client.release(spoilt || client.getTransactionStatus() !== 'I');
    }
  }

  const running = new Set<Promise<unknown>>();
  let closed = false;

  return {
    async lend(task) {
      if (closed) throw storeUnavailable(new Error('the database is closed'));
      const result = repeatOnConflict(() => runTask(task), repeatMsMax);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    async close() {
      if (closed) return;
      closed = true;
      await Promise.race([Promise.allSettled(running), setTimeout(closeMsMax, undefined, { ref: false })]);
      const ended = pool.end();
      if (running.size > 0) sockets.destroy();
      await ended;
      sockets.unref();
    },
  };
}
