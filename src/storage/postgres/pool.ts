import { setTimeout } from 'node:timers/promises';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { storeOverloaded, storeUnavailable } from '../store-unavailable.ts';
import { keepNoStatements } from './batch.ts';
import { connectionSettings } from './client.ts';
import { isConnectionSpoilt, repeatOnConflict, throwConnectionError } from './faults.ts';
import { isLentByTransaction } from './pooler.ts';
import { createPostgresSockets } from './sockets.ts';

/** A bounded pool of connections to one server. It opens them on demand and replaces lost ones. */
export interface PostgresPool {
  /**
   * Lends a connection to a task and returns its result. A task that conflicts with another is repeated for up to
   * `repeatMsMax`. Throws AppError `unavailable` if no connection is free or opens in time, and at once if
   * `waitingTasksMax` tasks wait already.
   */
  lend<T>(task: (client: PoolClient) => Promise<T>): Promise<T>;
  /**
   * Waits for running tasks, at most `closeMsMax`; those still running then fail. Closes the connections without
   * waiting for the server. Later tasks fail.
   */
  close(): Promise<void>;
}

/**
 * The connections of one instance. Ten keep a server of a few cores busy. All instances share its `max_connections`.
 */
export const connectionsMax = 10;
/** How many tasks may wait for a connection at once. Each waits at most `connectMsMax`. */
export const waitingTasksMax = 1_000;

/** How long the server runs one statement, and waits for one lock, before it gives up. */
const statementMsMax = 5_000;
const lockMsMax = 2_000;
/** How long the server keeps a transaction and its locks for an instance that stopped responding. */
const idleInTransactionMsMax = 5_000;
const sessionSettings = {
  statement_timeout: statementMsMax,
  lock_timeout: lockMsMax,
  idle_in_transaction_session_timeout: idleInTransactionMsMax,
};
/** How long the client waits for an answer. Beyond `statementMsMax` the server, or the connection, is dead. */
const answerMsMax = 6_000;
const repeatMsMax = 5_000;
/** How long running tasks may take once the pool closes. A server that hangs must not delay the shutdown. */
export const closeMsMax = 1_000;
/** Idle connections are closed, and busy ones from time to time, so that they follow a server that moved. */
const idleMsMax = 60_000;
const lifetimeSeconds = 1_800;

/** A pool for the server at an address. It connects at the first task. `settings` override those above. */
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
  // A lost connection fails the task that uses it. The pool drops a lost idle connection by itself.
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
      // A connection that is still inside a transaction could not be rolled back.
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
