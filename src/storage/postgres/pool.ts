import { setTimeout } from 'node:timers/promises';
import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { storeOverloaded, storeUnavailable } from '../store-unavailable.ts';
import { connectionSettings } from './client.ts';
import { isConnectionSpoilt, repeatOnConflict, throwConnectionError } from './faults.ts';
import { createPostgresSockets } from './sockets.ts';

/** A bounded set of connections to one server, made when they are wanted and made anew when they are lost. */
export interface PostgresPool {
  /**
   * Lends one connection to a task and gives what it gives; a task that conflicts with another is begun again for up
   * to `repeatMsMax`. Fails with AppError `unavailable` where no connection is free or can be made in time, and at
   * once where `waitingTasksMax` wait for one already.
   */
  lend<T>(task: (client: PoolClient) => Promise<T>): Promise<T>;
  /**
   * Waits for the tasks that were handed over, `closeMsMax` at most: those that run then fail. Then closes the
   * connections, and does not wait for the server; a task that comes later fails.
   */
  close(): Promise<void>;
}

/** Connections of one instance. Ten keep a server of a few cores busy; all instances share its `max_connections`. */
export const connectionsMax = 10;
/** How many tasks wait for a connection at once; each waits `connectMsMax` at most. */
export const waitingTasksMax = 1_000;

/** How long the server works on one statement, and waits for one lock, before it gives up. */
const statementMsMax = 5_000;
const lockMsMax = 2_000;
/** How long the server keeps a transaction, with its locks, for an instance that has fallen silent. */
const idleInTransactionMsMax = 5_000;
/** How long an answer is waited for: past `statementMsMax` the server, or the way to it, is dead. */
const answerMsMax = 6_000;
const repeatMsMax = 5_000;
/** How long tasks may take to end once the pool is to be closed: a server that hangs must not keep a service. */
const closeMsMax = 1_000;
/** Unused connections are closed, and used ones in turn, so that they come to follow a server that has moved. */
const idleMsMax = 60_000;
const lifetimeSeconds = 1_800;

/** A pool for the server at an address; it connects when the first task comes. `settings` replace those above. */
export function createPostgresPool(url: string, settings: PoolConfig = {}): PostgresPool {
  const sockets = createPostgresSockets();
  const pool = new Pool({
    ...connectionSettings(url),
    stream: sockets.stream,
    statement_timeout: statementMsMax,
    lock_timeout: lockMsMax,
    idle_in_transaction_session_timeout: idleInTransactionMsMax,
    query_timeout: answerMsMax,
    max: connectionsMax,
    idleTimeoutMillis: idleMsMax,
    maxLifetimeSeconds: lifetimeSeconds,
    ...settings,
  });
  // The loss of a connection is told to the task that uses it; of an idle one to nobody: the pool has dropped it.
  const ignore = () => undefined;
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));

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
      // A connection that is still inside a transaction could not be brought out of it.
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
