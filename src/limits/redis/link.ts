import { openRedisConnection, type RedisConnection } from './connection.ts';
import { watchCalls } from './running-calls.ts';
import type { RedisScript } from './scripts.ts';

/**
 * A way to Redis. It fails rather than wait: a call without a connection at once; all that are running when the one
 * that is next to be answered is kept waiting for 300 ms, or any has been running for 2 s. What fails ends the
 * connection, so that a server that hangs, has become a replica or has moved is left behind.
 */
export interface RedisLink {
  /** Connects, if there is no connection. */
  connect(): Promise<void>;
  /** Runs a script on keys that lie in one node; one round trip, but for the first time on a server. */
  run(script: RedisScript, keys: readonly string[], parameters: readonly string[]): Promise<unknown>;
  /** Lets what is running fail; nothing comes after it. */
  close(): void;
}

/**
 * A way to the Redis of an address, without a connection yet; it looks after what runs until it is closed.
 */
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
      giveUp(new Error('the way to Redis is closed'));
    },
  };
}

function isUnknownScript(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
