import { openRedisConnection, type RedisConnection } from './connection.ts';
import type { RedisScript } from './scripts.ts';

/**
 * A link to Redis that fails fast instead of waiting.
 *
 * - A call without a connection fails at once.
 * - If the oldest call gets no answer within 300 ms after it became the oldest, all running calls fail.
 * - If a call takes more than 2 s in total, all running calls fail.
 * - A failure also drops the connection. So the link leaves a server that hangs, has moved or has become a replica.
 */
export interface RedisLink {
  /** Connects if there is no connection. */
  connect(): Promise<void>;
  /** Runs a script on keys of one node. It takes one round trip, or two if the server does not know the script yet. */
  run(script: RedisScript, keys: readonly string[], parameters: readonly string[]): Promise<unknown>;
  /** Closes the link permanently. Running calls fail. */
  close(): void;
}

/** Creates a link that is not connected yet. The link watches running calls until it is closed. */
export function createRedisLink(url: string): RedisLink {
  const running = watchCalls(giveUp);
  let connection: RedisConnection | null = null;
  let connecting: Promise<void> | null = null;
  let urls: readonly string[] = [url];
  let closed = false;

  function giveUp(reason: Error): void {
    connection?.destroy();
    connection = null;
    running.failAll(reason);
  }

  async function open(): Promise<void> {
    const opened = await openRedisConnection(urls);
    if (closed) return opened.destroy();
    connection = opened;
    urls = [...new Set([url, ...opened.otherUrls])];
  }

  function send(key: string, command: string[]): Promise<unknown> {
    const through = connection;
    if (through === null) return Promise.reject(new Error('there is no connection to Redis'));
    return running.follow(through.send(key, command), (error) => {
      if (connection === through && !isUnknownScript(error)) giveUp(error);
    });
  }

  return {
    async connect() {
      if (connection !== null || closed) return;
      connecting ??= open().finally(() => {
        connecting = null;
      });
      await connecting;
    },

    async run(script, keys, parameters) {
      const [key = ''] = keys;
      const rest = [String(keys.length), ...keys, ...parameters];
      try {
        return await send(key, ['EVALSHA', script.sha1, ...rest]);
      } catch (error) {
        if (!isUnknownScript(error)) throw error;
        return send(key, ['EVAL', script.text, ...rest]);
      }
    },

    close() {
      closed = true;
      running.stop();
      giveUp(new Error('the link to Redis is closed'));
    },
  };
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/** Waiting time is counted in checks, not by the clock. So a pause of this process does not count as waiting. */
const checkEveryMs = 50;
const checksAsOldestMax = 5;
const checksMax = 40;

interface Call {
  readonly sinceCheck: number;
  readonly fail: (error: Error) => void;
}

/** Watches the running calls until `stop`. Calls `giveUp` if the oldest call waits too long. */
function watchCalls(giveUp: (reason: Error) => void) {
  /** Oldest first. */
  const running = new Set<Call>();
  let checks = 0;
  let oldest: Call | undefined;
  let oldestSinceCheck = 0;

  function check(): void {
    checks += 1;
    const [first] = running;
    if (first !== oldest) oldestSinceCheck = checks;
    oldest = first;
    if (first === undefined) return;
    const waitsTooLong =
      checks - oldestSinceCheck >= checksAsOldestMax || checks - first.sinceCheck >= checksMax;
    if (waitsTooLong) giveUp(new Error('Redis does not answer'));
  }
  const timer = setInterval(check, checkEveryMs).unref();

  return {
    /** Returns the answer to a call. Rejects if `failAll` comes first. `onError` gets only errors of the call itself. */
    follow: <T>(answer: Promise<T>, onError: (error: Error) => void): Promise<T> =>
      new Promise((resolve, reject) => {
        const call = { sinceCheck: checks, fail: reject };
        running.add(call);
        answer.then(
          (value) => {
            running.delete(call);
            resolve(value);
          },
          (error: Error) => {
            running.delete(call);
            reject(error);
            onError(error);
          },
        );
      }),
    failAll(reason: Error): void {
      for (const { fail } of running) fail(reason);
      running.clear();
    },
    stop: () => clearInterval(timer),
  };
}
