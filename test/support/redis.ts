import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { createClient } from '@redis/client';
import { createRedisCounters, type RedisCounters } from '../../src/limits/redis/redis-counters.ts';

type Lifetime = Pick<TestContext, 'after'>;

const connectMsMax = 60_000;

/** The keys of one test in a shared Redis. They are deleted after the test. */
export interface RedisSpace {
  readonly url: string;
  /** The prefix of every key. */
  readonly prefix: string;
  /** Runs a command on a separate connection. */
  command(...parts: string[]): Promise<unknown>;
  /** Returns all keys with the prefix. */
  listKeys(): Promise<string[]>;
}

/** A Redis that several tests share. */
export interface SharedRedis {
  /** For the option `skip` of `describe`: the reason if tests cannot use this Redis, otherwise false. */
  readonly skip: string | false;
  createSpace(test: Lifetime): Promise<RedisSpace>;
}

/** Returns the Redis at TEST_REDIS_URL. Without a server, the tests are skipped. With CI=true, throws instead. */
export async function findRedis(): Promise<SharedRedis> {
  const url = process.env['TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';
  const skip = await whyUnreachable(url);
  if (skip !== false && process.env['CI'] === 'true') throw new Error(skip);
  return { skip, createSpace: (test) => createSpace(test, url) };
}

async function whyUnreachable(url: string): Promise<string | false> {
  try {
    (await connectRedis(url)).destroy();
    return false;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return `SKIPPED: no Redis for the tests (${code ?? message}); start one and name it in TEST_REDIS_URL`;
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
  test: Lifetime,
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

async function createSpace(test: Lifetime, url: string): Promise<RedisSpace> {
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
  return { url, prefix, command: (...parts) => client.sendCommand(parts), listKeys };
}
