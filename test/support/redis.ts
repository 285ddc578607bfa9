import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { createClient } from '@redis/client';
import { createRedisCounters, type RedisCounters } from '../../src/limits/redis/redis-counters.ts';

type Lifetime = Pick<TestContext, 'after'>;

/** Long enough for any machine. */
const connectMsMax = 60_000;

/** A part of a Redis for one test. Its keys are deleted after the test. */
export interface RedisSpace {
  readonly url: string;
  /** The prefix of every key of the test. */
  readonly prefix: string;
  /** Runs a command directly, as an operator does. */
  command(...parts: string[]): Promise<unknown>;
  /** All its keys. */
  listKeys(): Promise<string[]>;
}

/** A Redis that several tests share. */
export interface SharedRedis {
  /** The reason why tests cannot use it; false if they can. For the option `skip` of `describe`. */
  readonly skip: string | false;
  createSpace(test: Lifetime): Promise<RedisSpace>;
}

/** The Redis at TEST_REDIS_URL. Without a server, its tests are skipped with a message, or fail with CI=true. */
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

/** A client that does not reconnect. */
export async function connectRedis(url: string) {
  const socket = { connectTimeout: connectMsMax, reconnectStrategy: false } as const;
  const client = createClient({ url, RESP: 2, socket });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/**
 * Connected counters in a running Redis. The service allows 1 s for a connection and then counts alone. That may be too
 * short on a busy machine, so a test tries up to 30 times.
 */
export async function connectCounters(
  test: Lifetime,
  options: Parameters<typeof createRedisCounters>[0],
): Promise<RedisCounters> {
  const counters = createRedisCounters(options);
  test.after(counters.close);
  for (let triesLeft = 30; ; triesLeft -= 1)
    try {
      await counters.probe('account', 'key');
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
