import { setTimeout } from 'node:timers/promises';
import type { PoolClient, PoolConfig } from 'pg';
import type { ConnectionCounts } from '../database.ts';
import { storeOverloaded, storeUnavailable } from '../store-unavailable.ts';
import { createConnections } from './connections.ts';
import { isConnectionSpoilt, repeatOnConflict, throwConnectionError } from './faults.ts';

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
  count(): ConnectionCounts;
  /**
   * Waits for running tasks, at most `closeMsMax`. Tasks that are still running then fail. Closes the connections
   * without waiting for the server. Later tasks fail.
   */
  close(): Promise<void>;
}

/** Maximum number of tasks that wait for a connection. Each waits at most `connectMsMax`. */
export const waitingTasksMax = 1_000;

const repeatMsMax = 5_000;
/** Time in ms that running tasks may take after the pool closes. A server that hangs must not delay the shutdown. */
export const closeMsMax = 1_000;

/**
 * Creates a pool for the server at an address. The first task opens the first connection. `settings` override the
 * settings above.
 */
export function createPostgresPool(url: string, settings: PoolConfig = {}): PostgresPool {
  const { pool, choice, destroy, unref } = createConnections(url, settings);

  async function runTask<T>(task: (client: PoolClient) => Promise<T>): Promise<T> {
    await choice.find().catch(throwConnectionError);
    if (pool.waitingCount >= waitingTasksMax) throw storeOverloaded();
    const client = await pool.connect().catch((error) => {
      choice.leave();
      return throwConnectionError(error);
    });
    let spoilt = false;
    try {
      return await task(client);
    } catch (error) {
      spoilt = isConnectionSpoilt(error);
      if (spoilt) choice.leave();
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
    count: () => ({
      busy: pool.totalCount - pool.idleCount,
      idle: pool.idleCount,
      waiting: pool.waitingCount,
    }),
    async close() {
      if (closed) return;
      closed = true;
      await Promise.race([Promise.allSettled(running), setTimeout(closeMsMax, undefined, { ref: false })]);
      const ended = pool.end();
      if (running.size > 0) destroy();
      await ended;
      unref();
    },
  };
}
