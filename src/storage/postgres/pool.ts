import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import type { Pool, PoolClient, PoolConfig } from 'pg';
import type { ConnectionCounts } from '../database.ts';
import { storeOverloaded } from '../store-errors.ts';
import { type Connections, createConnections, type PooledClient } from './connections.ts';
import { isConnectionSpoilt, isUnanswered, repeatOnConflict, throwConnectionError } from './faults.ts';

/**
 * Lends a connection to a task and returns the result of the task. A task that conflicts with another transaction is
 * repeated for up to `repeatMsMax`. Throws AppError `unavailable` if no connection is free within `connectMsMax`, or at
 * once if `waitingTasksMax` tasks already wait.
 */
export type Lend = <T>(task: (client: PoolClient) => Promise<T>) => Promise<T>;

/** Maximum number of tasks that wait for a connection to read, and to write. Each waits at most `connectMsMax`. */
export const waitingTasksMax = 1_000;
const repeatMsMax = 5_000;
/** Time in ms that running tasks may take after the pool closes. A server that hangs must not delay the shutdown. */
const closeMsMax = 1_000;
/** Interval in ms of the watch over the lent connections, and the time after which a task counts as slow. */
const watchEveryMs = 1_000;

/**
 * Creates a bounded pool for the server at an address. Reads have connections of their own, so that they do not wait for
 * writes. `settings` override those of the connections.
 */
export function createPostgresPool(url: string, settings: PoolConfig = {}) {
  const connections = createConnections(url, settings);
  const { reads, writes } = connections;
  const lent = lendConnections(connections);
  const running = new Set<Promise<unknown>>();

  const createLend = (pool: Pool): Lend =>
    function lend(task) {
      const result = repeatOnConflict(() => lent.run(pool, task), repeatMsMax).finally(() =>
        running.delete(result),
      );
      running.add(result);
      return result;
    };

  return {
    read: createLend(reads),
    write: createLend(writes),
    count: (): ConnectionCounts => ({
      busy: reads.totalCount - reads.idleCount + writes.totalCount - writes.idleCount,
      idle: reads.idleCount + writes.idleCount,
      waiting: reads.waitingCount + writes.waitingCount,
    }),
    /**
     * Waits for `last` and the running tasks, at most `closeMsMax`. Tasks that still run then fail, and later ones too.
     */
    async close(last: Promise<unknown> = Promise.resolve()): Promise<void> {
      const drained = Promise.allSettled([last, ...running]);
      await Promise.race([drained, setTimeout(closeMsMax, undefined, { ref: false })]);
      const ended = Promise.all([reads.end(), writes.end()]);
      lent.stop();
      await ended;
      connections.unref();
    },
  };
}

type Lent = PoolClient & PooledClient;

function lendConnections({ choice, dropEnded, destroy }: Connections) {
  /** The lent connections, each with the time at which its task began. */
  const lent = new Map<Lent, number>();
  /** Those whose task has failed because the server did not answer. */
  const givenUp = new Set<Lent>();

  function release(client: Lent, isSpoilt: boolean): void {
    lent.delete(client);
    if (isSpoilt) choice.leave();
    // A connection whose transaction is still open is dropped, because its rollback failed.
    client.release(isSpoilt || client.getTransactionStatus() !== 'I');
  }

  /**
   * Keeps a connection lent while the server still works on its statement, such as a commit that waits for a lost
   * standby. Otherwise each such commit would leave a process on the server, and the next one would open another.
   */
  async function keepUntilAnswered(client: Lent): Promise<void> {
    givenUp.add(client);
    await Promise.race([once(client, 'drain'), once(client, 'end')]).catch(() => undefined);
    givenUp.delete(client);
    release(client, true);
  }

  /** If a task is slow, its server may be lost or have a successor, or may have ended the process of the task. */
  const stopWatch = repeatQuietly(async () => {
    const slowMs = performance.now() - watchEveryMs;
    if (!lent.values().some((sinceMs) => sinceMs < slowMs)) return;
    await choice.look();
    if (givenUp.size > 0) await dropEnded([...givenUp]);
  }, watchEveryMs);

  return {
    async run<T>(pool: Pool, task: (client: PoolClient) => Promise<T>): Promise<T> {
      await choice.find().catch(throwConnectionError);
      if (pool.waitingCount >= waitingTasksMax) throw storeOverloaded();
      const client = (await pool.connect().catch((error) => {
        choice.leave();
        return throwConnectionError(error);
      })) as Lent;
      lent.set(client, performance.now());
      let fault: unknown;
      try {
        return await task(client);
      } catch (error) {
        fault = error;
        throw error;
      } finally {
        if (isUnanswered(fault) && client.session !== null) void keepUntilAnswered(client);
        else release(client, isConnectionSpoilt(fault));
      }
    },
    /** Ends the watch. Closes all connections if one is still lent. */
    stop(): void {
      stopWatch();
      if (lent.size > 0) destroy();
    },
  };
}

/** Repeats a task, but not while it runs. Ignores its errors. Returns the function that stops. */
function repeatQuietly(task: () => Promise<void>, everyMs: number): () => void {
  let isRunning = false;
  const timer = setInterval(async () => {
    if (isRunning) return;
    isRunning = true;
    await task().catch(() => undefined);
    isRunning = false;
  }, everyMs).unref();
  return () => clearInterval(timer);
}
