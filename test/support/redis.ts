import { randomUUID } from 'node:crypto';
import { createClient } from '@redis/client';
import { createRedisCounters, type RedisCounters } from '../../src/limits/redis/redis-counters.ts';
import { refuseInCi } from './programs.ts';
import type { Ending } from './service.ts';

const connectMsMax = 60_000;

/** Returns the Redis at TEST_REDIS_URL. Without a server, the tests are skipped. With CI=true, throws instead. */
export async function findRedis() {
  const url = process.env['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';
  const skip = await whyUnreachable(url);
  return { skip, createSpace: (test: Ending) => createSpace(test, url) };
}

async function whyUnreachable(url: string): Promise<string | false> {
  try {
    (await connectRedis(url)).destroy();
    return false;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = `SKIPPED: no Redis for the tests (${code ?? message})`;
    return refuseInCi(`${reason}; start one and name it in TEST_REDIS_URL`);
  }
}

/** Connects a client that does not reconnect. */
export async function connectRedis(url: string) {
  const socket = { connectTimeout: connectMsMax, reconnectStrategy: false } as const;
  const client = createClient({ url, RESP: 2, socket });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/**
 * Creates counters that are connected to a running Redis. The counters give up a connection attempt after 1 s, which
 * may be too short on a busy machine. So this tries up to 31 times.
 */
export async function connectCounters(
  test: Ending,
  options: Parameters<typeof createRedisCounters>[0],
): Promise<RedisCounters> {
  const counters = createRedisCounters(options);
  test.after(counters.close);
  for (let triesLeft = 30; ; triesLeft -= 1)
    try {
      await counters.probe('account:probe');
      return counters;
    } catch (error) {
      if (triesLeft === 0) throw error;
    }
}

export type RedisSpace = Awaited<ReturnType<typeof createSpace>>;

/** Reserves a prefix for the keys of a test. Deletes the keys after the test. */
async function createSpace(test: Ending, url: string) {
  const prefix = `animal-store-test:${randomUUID()}:`;
  const client = await connectRedis(url);
  const listKeys = async () => {
    const keys: string[] = [];
    for await (const run of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1_000 })) keys.push(...run);
    return keys;
  };
  test.after(async () => {
    const keys = await listKeys();
    if (keys.length > 0) await client.unlink(keys);
    client.destroy();
  });
  return { url, prefix, command: (...parts: string[]) => client.sendCommand(parts), listKeys };
}
