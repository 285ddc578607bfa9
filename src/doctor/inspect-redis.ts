import { setTimeout as sleep } from 'node:timers/promises';
import { openRedisConnection } from '../limits/redis/connection.ts';

/** The state of the Redis or Valkey server that has the counters. */
export interface RedisInspection {
  readonly version: string;
  /** False for a replica, which accepts no writes. */
  readonly isPrimary: boolean;
  readonly evictionPolicy: string;
  /** False if a restart or a kill loses all counts and bans. */
  readonly isDurable: boolean;
  /** Used memory in bytes, and its maximum. A maximum of 0 means no limit. */
  readonly usedBytes: number;
  readonly bytesMax: number;
  /** The shortest of `roundTrips` round trips. */
  readonly roundTripMs: number;
  /** The server's clock, and this machine's clock halfway between request and response. Both are Unix milliseconds. */
  readonly clockMs: number;
  readonly askedAtMs: number;
}

/** Timeout in ms for all commands together. */
const answersMsMax = 2_000;
const roundTrips = 5;
/** An arbitrary key. In a cluster it selects the node to inspect. */
const place = 'animal-store';

/** Inspects a server, or one node of a cluster. Changes nothing. Throws if the server does not answer in time. */
export async function inspectRedis(url: string): Promise<RedisInspection> {
  const { send, destroy } = await openRedisConnection([url]);
  const ask = (...command: string[]) => send(place, command);
  const waiting = new AbortController();
  try {
    const tooLate = sleep(answersMsMax, undefined, waiting).then(() => {
      throw new Error('Redis does not answer');
    });
    return await Promise.race([lookAt(ask), tooLate]);
  } finally {
    waiting.abort();
    destroy();
  }
}

async function lookAt(ask: (...command: string[]) => Promise<unknown>): Promise<RedisInspection> {
  const facts = parseInfo(String(await ask('INFO')));
  let roundTripMs = Number.POSITIVE_INFINITY;
  for (let count = 0; count < roundTrips; count += 1) {
    const sentMs = performance.now();
    await ask('PING');
    roundTripMs = Math.min(roundTripMs, performance.now() - sentMs);
  }
  const sentMs = Date.now();
  const [seconds = 0, microseconds = 0] = ((await ask('TIME')) as string[]).map(Number);
  return {
    version: facts.get('valkey_version') ?? facts.get('redis_version') ?? 'unknown',
    isPrimary: facts.get('role') !== 'slave',
    isDurable: facts.get('aof_enabled') === '1',
    evictionPolicy: facts.get('maxmemory_policy') ?? 'unknown',
    usedBytes: Number(facts.get('used_memory') ?? 0),
    bytesMax: Number(facts.get('maxmemory') ?? 0),
    roundTripMs,
    clockMs: seconds * 1_000 + Math.floor(microseconds / 1_000),
    askedAtMs: (sentMs + Date.now()) / 2,
  };
}

/** Parses the `name:value` lines of INFO. */
function parseInfo(text: string): Map<string, string> {
  return new Map(
    Array.from(text.matchAll(/^(\w+):(.*?)\r?$/gm), ([, name = '', value = '']) => [name, value]),
  );
}
