import { once } from 'node:events';
import { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { type ClientConfig, Pool, type PoolClient, type PoolConfig } from 'pg';
import { connectionsDefault } from '../../setting-values.ts';
import type { ConnectionCounts } from '../database.ts';
import { storeOverloaded } from '../store-errors.ts';
import { connectionSettings, connectMsMax, createClient, readConnectMs, StoreClient } from './client.ts';
import { createFairQueue } from './fair-queue.ts';
import {
  isConnectionSpoilt,
  isUnanswered,
  repeatOnConflict,
  repeatWhileLocked,
  throwConnectionError,
} from './faults.ts';
import { createServerChoice, type ServerChoice } from './servers.ts';

/**
 * Divides the connections of an instance. A write that waits takes none of those that read, and one asks the server what
 * it is. At most `inTurn` of those that write do what may wait for a row, so that one is left for adds.
 */
export function divideConnections(all: number) {
  const reads = Math.max(1, Math.floor(((all - 1) * 4) / 9));
  const writes = all - 1 - reads;
  return { reads, writes, inTurn: Math.max(1, writes - 1) };
}

/** Maximum number of connections with writes of one account that may wait for a row. */
export const accountWritesMax = 2;

/** Maximum number of tasks that wait for a connection to read, and to write. Each waits at most `readConnectMs`. */
export const waitingTasksMax = 1_000;
/** Time in ms for which a task that conflicts with another transaction, or finds a row locked, is repeated. */
export const repeatMsMax = 5_000;
/** Time in ms that running tasks may take after the pool closes. A server that hangs must not delay the shutdown. */
const closeMsMax = 1_000;
/** Interval in ms of the watch over the lent connections, and the time after which a task counts as slow. */
const watchEveryMs = 1_000;

const sessionSettings = {
  /** Timeouts of the server in ms, for one statement and for one lock. */
  statement_timeout: 5_000,
  lock_timeout: 2_000,
  /** Time in ms after which the server rolls back an idle transaction, so that a stuck instance keeps no locks. */
  idle_in_transaction_session_timeout: 5_000,
};
/** Timeout of the client in ms for a response. The server's own is shorter, so the server or the connection is dead. */
const answerMsMax = 6_000;
/** Connections are closed after this time, so that new ones follow a server that moved. */
const idleMsMax = 60_000;
const lifetimeSeconds = 1_800;

/**
 * How the server plans. A page reads its index in order, and stops at its end: with a bitmap, the server would read and
 * sort all rows of a filter if it believes that they are few. To compile a plan (JIT) takes longer than a page.
 */
export const planSettings = `set_config('enable_bitmapscan', 'off', false), set_config('jit', 'off', false)`;

/**
 * Each side notices within 25 s that the other is lost: the server ends its process, the client an idle connection. The
 * server sends its warnings, which `requireConfirmed` needs.
 */
const settleSql = `select pg_backend_pid()::text as process, ${planSettings},
  set_config('tcp_keepalives_idle', '10', false), set_config('tcp_keepalives_interval', '5', false),
  set_config('tcp_keepalives_count', '3', false), set_config('tcp_user_timeout', '25000', false),
  set_config('client_min_messages', 'warning', false)`;
/** A write that waits for a row gives its connection back after this time, and is then repeated (`LendInTurn`). */
const settleWritesSql = `${settleSql}, set_config('lock_timeout', '100ms', false)`;
const keepaliveIdleMs = 10_000;
/** Server processes that still do a statement. A process that waits for its client has lost the client's statement. */
const busySql = `select pid::text as process from pg_stat_activity
  where pid = any($1::int[]) and wait_event is distinct from 'ClientRead'`;

class PooledClient extends StoreClient {
  /** The socket can be closed even if the server does not answer. */
  readonly socket: Socket;
  /** The id of the server process, once the connection is admitted. */
  process = '';
  isAdmitted = false;

  constructor(config: ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.socket = socket;
  }
}

type Lent = PoolClient & PooledClient;

/**
 * Lends a connection to a task and returns the result of the task. A task that conflicts with another transaction is
 * repeated for up to `repeatMsMax`. Throws AppError `unavailable` if no connection is free within `readConnectMs`, or at
 * once if `waitingTasksMax` tasks already wait.
 */
export type Lend = <T>(task: (client: PoolClient) => Promise<T>) => Promise<T>;

/**
 * Like `Lend`, for a task that may wait for a row, on behalf of an account, if any. If the row stays locked, the task must
 * fail soon. It is then repeated for up to `repeatMsMax`, and holds no connection between two attempts.
 */
export type LendInTurn = <T>(
  account: bigint | undefined,
  task: (client: PoolClient) => Promise<T>,
) => Promise<T>;

/** Creates a bounded pool, and opens no connection yet. Reads have their own, so that they do not wait for writes. */
export function createPostgresPool(
  url: string,
  connectionsMax = connectionsDefault,
  settings: PoolConfig = {},
) {
  const connections = createConnections(url, connectionsMax, settings);
  const { reads, writes } = connections;
  const lent = lendConnections(connections);
  const running = new Set<Promise<unknown>>();
  const turns = createFairQueue({
    max: divideConnections(connectionsMax).inTurn,
    ofAccountMax: accountWritesMax,
    waitingMax: waitingTasksMax,
    waitMsMax: connectMsMax,
  });

  function repeat<T>(attempt: () => Promise<T>): Promise<T> {
    const result = repeatOnConflict(attempt, repeatMsMax);
    running.add(result);
    return result.finally(() => running.delete(result));
  }

  const createLend = (pool: Pool): Lend => {
    return (task) => repeat(() => lent.run(pool, task));
  };

  const writeInTurn: LendInTurn = (account, task) => {
    const attempt = () => turns.run(account, () => lent.run(writes, task));
    return repeat(() => repeatWhileLocked(attempt, repeatMsMax));
  };

  return {
    read: createLend(reads),
    write: createLend(writes),
    writeInTurn,
    count: (): ConnectionCounts => ({
      busy: reads.totalCount - reads.idleCount + writes.totalCount - writes.idleCount,
      idle: reads.idleCount + writes.idleCount,
      waiting: reads.waitingCount + writes.waitingCount + turns.countWaiting(),
    }),
    /** Waits for `last` and the running tasks, at most `closeMsMax`. After that, tasks fail. */
    async close(last: Promise<unknown> = Promise.resolve()): Promise<void> {
      const drained = Promise.allSettled([last, ...running]);
      await Promise.race([drained, setTimeout(closeMsMax, undefined, { ref: false })]);
      const ended = Promise.all([reads.end(), writes.end()]);
      lent.stop();
      await ended;
      // The process may exit even if the server has not closed every connection.
      for (const { socket } of connections.clients) socket.unref();
    },
  };
}

function createConnections(url: string, connectionsMax: number, settings: PoolConfig) {
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

  async function admit(client: PooledClient, settle: string): Promise<void> {
    await choice.admit(client);
    client.process = (await client.query<{ process: string }>(settle)).rows[0]?.process ?? '';
    client.isAdmitted = true;
  }

  const createPool = (max: number, settle: string) => {
    const pool = new Pool({
      ...sessionSettings,
      Client: ChosenClient,
      onConnect: (client) => admit(client as PooledClient, settle),
      connectionTimeoutMillis: readConnectMs(url),
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
  const { reads, writes } = divideConnections(connectionsMax);
  return {
    reads: createPool(reads, settleSql),
    writes: createPool(writes, settleWritesSql),
    choice,
    clients,
  };
}

async function takeConnection(pool: Pool, choice: ServerChoice): Promise<Lent> {
  // While a connection works, no task waits for the hosts. A new one joins it on its server, and is checked too.
  if (pool.totalCount === 0) await choice.find().catch(throwConnectionError);
  if (pool.waitingCount >= waitingTasksMax) throw storeOverloaded();
  const client = await pool.connect().catch((error) => {
    choice.leave();
    return throwConnectionError(error);
  });
  return client as Lent;
}

function lendConnections({ choice, clients }: ReturnType<typeof createConnections>) {
  /** The lent connections, each with the time at which its task began. */
  const lent = new Map<Lent, number>();
  /** Those whose task has failed because the server did not answer. */
  const givenUp = new Set<Lent>();
  let isStopped = false;
  /**
   * If a connection was lost or a task is slow, the server may have a successor. Then the older connections end. The server
   * may also have ended the process of a task.
   */
  async function watch(): Promise<void> {
    for (; !isStopped; await setTimeout(watchEveryMs, undefined, { ref: false })) {
      const isSlow = (sinceMs: number) => performance.now() - sinceMs > watchEveryMs;
      if (!choice.isLost() && !lent.values().some(isSlow)) continue;
      const looking = choice.look().then(() => dropEnded(choice.readUrl(), [...givenUp]));
      await looking.catch(() => undefined);
    }
  }

  function release(client: Lent, isSpoilt: boolean): void {
    lent.delete(client);
    if (isSpoilt) choice.leave();
    // A connection whose transaction is still open is dropped, because its rollback failed.
    client.release(isSpoilt || client.getTransactionStatus() !== 'I');
  }

  /** Keeps a connection lent while its server still works, so that commits that wait for a lost standby stay few. */
  async function keepUntilAnswered(client: Lent): Promise<void> {
    givenUp.add(client);
    await Promise.race([once(client, 'drain'), once(client, 'end')]).catch(() => undefined);
    givenUp.delete(client);
    release(client, true);
  }

  void watch();
  return {
    async run<T>(pool: Pool, task: (client: PoolClient) => Promise<T>): Promise<T> {
      const client = await takeConnection(pool, choice);
      lent.set(client, performance.now());
      try {
        const result = await task(client);
        release(client, false);
        return result;
      } catch (error) {
        if (isUnanswered(error)) void keepUntilAnswered(client);
        else release(client, isConnectionSpoilt(error));
        throw error;
      }
    },
    stop(): void {
      isStopped = true;
      if (lent.size > 0) for (const { socket } of clients) socket.destroy();
    },
  };
}

/** Closes those of the connections on which the server does nothing any more. */
async function dropEnded(url: string, silent: readonly PooledClient[]): Promise<void> {
  if (silent.length === 0) return;
  const asker = createClient(url, { query_timeout: connectMsMax });
  try {
    await asker.connect();
    const { rows } = await asker.query<{ process: string }>(busySql, [silent.map((one) => one.process)]);
    const busy = new Set(rows.map((row) => row.process));
    for (const { process, socket } of silent) if (!busy.has(process)) socket.destroy();
  } finally {
    void asker.end();
  }
}
