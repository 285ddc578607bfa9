import { setTimeout } from 'node:timers/promises';
import type { Pool, PoolClient, PoolConfig } from 'pg';
import type { ConnectionCounts } from '../database.ts';
import { storeUnavailable } from '../store-unavailable.ts';
import { createConnections } from './connections.ts';
import { repeatOnConflict } from './faults.ts';
import { lendConnections } from './lent-connections.ts';

/** Lends a connection to a task and returns the result of the task. */
export type Lend = <T>(task: (client: PoolClient) => Promise<T>) => Promise<T>;

/** A bounded pool of connections to one server. It opens connections on demand and replaces lost connections. */
export interface PostgresPool {
  /**
   * Lends a connection to a task and returns the result of the task. If the task conflicts with another transaction,
   * it is repeated for up to `repeatMsMax`.
   *
   * Throws AppError `unavailable` if no connection is available within `connectMsMax`. Throws it at once if
   * `waitingTasksMax` tasks already wait.
   */
  write: Lend;
  /** Like `write`, but on connections of its own, so that it does not wait for writes. */
  read: Lend;
  count(): ConnectionCounts;
  /**
   * Waits for running tasks, at most `closeMsMax`. Tasks that are still running then fail. Closes the connections
   * without waiting for the server. Later tasks fail.
   */
  close(): Promise<void>;
}

const repeatMsMax = 5_000;
/** Time in ms that running tasks may take after the pool closes. A server that hangs must not delay the shutdown. */
export const closeMsMax = 1_000;
/**
 * Creates a pool for the server at an address. The first task opens the first connection. `settings` override those of
 * the connections.
 */
export function createPostgresPool(url: string, settings: PoolConfig = {}): PostgresPool {
  const connections = createConnections(url, settings);
  const { reads, writes } = connections;
  const lent = lendConnections(connections);
  const running = new Set<Promise<unknown>>();
  let closed = false;

  function createLend(pool: Pool): Lend {
    return async (task) => {
      if (closed) throw storeUnavailable(new Error('the database is closed'));
      const result = repeatOnConflict(() => lent.run(pool, task), repeatMsMax);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    };
  }

  return {
    read: createLend(reads),
    write: createLend(writes),
    count: () => ({
      busy: reads.totalCount - reads.idleCount + writes.totalCount - writes.idleCount,
      idle: reads.idleCount + writes.idleCount,
      waiting: reads.waitingCount + writes.waitingCount,
    }),
    async close() {
      if (closed) return;
      closed = true;
      await Promise.race([Promise.allSettled(running), setTimeout(closeMsMax, undefined, { ref: false })]);
      const ended = Promise.all([reads.end(), writes.end()]);
      lent.stop();
      await ended;
      connections.unref();
    },
  };
}
