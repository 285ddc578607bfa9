import { once } from 'node:events';
import type { Pool, PoolClient } from 'pg';
import { storeOverloaded } from '../store-unavailable.ts';
import type { Connections, PooledClient } from './connections.ts';
import { isConnectionSpoilt, isUnanswered, throwConnectionError } from './faults.ts';

/** Maximum number of tasks that wait for a connection to read, and to write. Each waits at most `connectMsMax`. */
export const waitingTasksMax = 1_000;
/** Interval in ms of the watch over the lent connections, and the time after which a task counts as slow. */
const watchEveryMs = 1_000;

type Lent = PoolClient & PooledClient;

/** Lends connections and watches over them. */
export interface LentConnections {
  /** Lends a connection of a pool to a task. Throws AppError `unavailable` if there is none in time. */
  run<T>(pool: Pool, task: (client: PoolClient) => Promise<T>): Promise<T>;
  /** Ends the watch. Closes all connections if one is still lent. */
  stop(): void;
}

/** Begins the watch over the connections. */
export function lendConnections({ choice, dropEnded, destroy }: Connections): LentConnections {
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
  async function watch(): Promise<void> {
    const slowMs = performance.now() - watchEveryMs;
    if (!lent.values().some((sinceMs) => sinceMs < slowMs)) return;
    await choice.look();
    if (givenUp.size > 0) await dropEnded([...givenUp]);
  }

  const stopWatch = repeatQuietly(watch, watchEveryMs);

  return {
    async run(pool, task) {
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
    stop() {
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
