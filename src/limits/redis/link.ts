import { openRedisConnection, type RedisConnection } from './connection.ts';

/** Waiting time is counted in checks, not by the clock. So a pause of this process does not count as waiting. */
const checkEveryMs = 50;
const checksAsOldestMax = 5;

/** A call that waits for its answer. Its failure is told to `fail`. */
type Call = { readonly fail: (error: Error) => void };

/** A link to Redis that fails fast instead of waiting. */
export type RedisLink = ReturnType<typeof createRedisLink>;

/**
 * Creates a link that is not connected yet.
 *
 * - A call without a connection fails at once.
 * - If the oldest call gets no answer within 300 ms after it became the oldest, all running calls fail.
 * - A failure also drops the connection. So the link leaves a server that hangs, has moved or has become a replica.
 */
export function createRedisLink(url: string) {
  /** Oldest first. */
  const running = new Set<Call>();
  let connection: RedisConnection | null = null;
  let connecting: Promise<void> | null = null;
  let urls: readonly string[] = [url];
  let closed = false;
  const timer = watchOldest(running, () => giveUp(new Error('Redis does not answer')));

  function giveUp(reason: Error): void {
    connection?.destroy();
    connection = null;
    for (const { fail } of running) fail(reason);
    running.clear();
  }

  async function open(): Promise<void> {
    const opened = await openRedisConnection(urls);
    if (closed) return opened.destroy();
    connection = opened;
    urls = [...new Set([url, ...opened.otherUrls])];
  }

  return {
    /** Connects if there is no connection. */
    async connect(): Promise<void> {
      if (connection !== null || closed) return;
      connecting ??= open().finally(() => {
        connecting = null;
      });
      await connecting;
    },

    /** Runs a script as `RedisConnection` does. */
    run(...call: Parameters<RedisConnection['run']>): Promise<unknown> {
      const through = connection;
      if (through === null) return Promise.reject(new Error('there is no connection to Redis'));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const entry = { fail: reject };
      running.add(entry);
      through
        .run(...call)
        .finally(() => running.delete(entry))
        .then(resolve, (error: Error) => {
          reject(error);
          if (connection === through) giveUp(error);
        });
      return promise;
    },

    /** Closes the link permanently. Running calls fail. */
    close(): void {
      closed = true;
      clearInterval(timer);
      giveUp(new Error('the link to Redis is closed'));
    },
  };
}

/** Calls `giveUp` if the oldest call stays the oldest for too long. Returns the timer of the checks. */
function watchOldest(running: ReadonlySet<Call>, giveUp: () => void): NodeJS.Timeout {
  let oldest: Call | undefined;
  let checksAsOldest = 0;
  function check(): void {
    const [first] = running;
    checksAsOldest = first !== undefined && first === oldest ? checksAsOldest + 1 : 0;
    oldest = first;
    if (checksAsOldest >= checksAsOldestMax) giveUp();
  }
  return setInterval(check, checkEveryMs).unref();
}
