import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { createClient } from '@redis/client';
import { createRedisCounters, type RedisCounters } from '../../src/limits/redis/redis-counters.ts';

type Lifetime = Pick<TestContext, 'after'>;

/** Long enough for any machine. */
const connectMsMax = 60_000;

/** A part of a Redis that is one test's own; its keys are deleted when the test ends. */
export interface RedisSpace {
  readonly url: string;
  /** What every key of the test has to begin with. */
  readonly prefix: string;
  /** Runs a command past the service, as an operator does. */
  command(...parts: string[]): Promise<unknown>;
  /** The keys that have come to be. */
  listKeys(): Promise<string[]>;
}

/** A Redis that several tests share. */
export interface SharedRedis {
  /** Why tests cannot be run on it; false where they can. For `describe`'s option of that name. */
  readonly skip: string | false;
  createSpace(test: Lifetime): Promise<RedisSpace>;
}

/**
 * Redis at TEST_REDIS_URL. Where no server answers its tests are skipped, and say so; with CI=true that is a failure.
 */
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

/** A client that is not mended when it is lost. */
export async function connectRedis(url: string) {
  const socket = { connectTimeout: connectMsMax, reconnectStrategy: false } as const;
  const client = createClient({ url, RESP: 2, socket });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/**
 * Counters in a Redis that is there, connected. The service gives a connection 1 s and then counts alone; on a busy
 * machine that may be too short, so a test tries again, 30 times at most.
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
