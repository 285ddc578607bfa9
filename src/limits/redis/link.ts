import { openRedisConnection, type RedisConnection } from './connection.ts';

/** Waiting time is counted in checks, not by the clock. So a pause of this process does not count as waiting. */
const checkEveryMs = 50;
const checksAsOldestMax = 5;

/**
 * Creates a link to Redis that fails fast instead of waiting. It is not connected yet.
 *
 * - A call without a connection fails at once.
 * - If the oldest call gets no answer within 300 ms after it became the oldest, all running calls fail.
 * - A failure also drops the connection. So the link leaves a server that hangs, has moved or has become a replica.
 */
export function createRedisLink(url: string) {
  /** The functions that fail the running calls, that of the oldest call first. */
  const running = new Set<(error: Error) => void>();
  let connection: RedisConnection | null = null;
  let connecting: Promise<void> | null = null;
  let urls: readonly string[] = [url];
  let closed = false;
  const timer = watchOldest(running, () => giveUp(new Error('Redis does not answer')));

  function giveUp(reason: Error): void {
    connection?.destroy();
    connection = null;
    for (const fail of running) fail(reason);
    running.clear();
  }

  async function open(): Promise<void> {
    const opened = await openRedisConnection(urls);
    if (closed) return opened.destroy();
    connection = opened;
    urls = [...new Set([url, ...opened.otherUrls])];
  }

  return {
    async connect(): Promise<void> {
      if (connection !== null || closed) return;
      connecting ??= open().finally(() => {
        connecting = null;
      });
      await connecting;
    },

    run(...call: Parameters<RedisConnection['run']>): Promise<unknown> {
      const through = connection;
      if (through === null) return Promise.reject(new Error('there is no connection to Redis'));
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      running.add(reject);
      through
        .run(...call)
        .finally(() => running.delete(reject))
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
function watchOldest(running: ReadonlySet<unknown>, giveUp: () => void): NodeJS.Timeout {
  let oldest: unknown;
  let checksAsOldest = 0;
  function check(): void {
    const [first] = running;
    checksAsOldest = first !== undefined && first === oldest ? checksAsOldest + 1 : 0;
    oldest = first;
    if (checksAsOldest >= checksAsOldestMax) giveUp();
  }
  return setInterval(check, checkEveryMs).unref();
}
