import { setTimeout as sleep } from 'node:timers/promises';
import { openRedisConnection } from './connection.ts';

/** The state of the Redis or Valkey of the counters. */
export interface RedisInspection {
  readonly version: string;
  /** Whether it accepts writes. A replica does not. */
  readonly isPrimary: boolean;
  readonly evictionPolicy: string;
  /** Used memory and its limit in bytes. A limit of 0 is none. */
  readonly usedBytes: number;
  readonly bytesMax: number;
  /** The shortest of a few round trips. */
  readonly roundTripMs: number;
  /** Its clock, and ours at that moment (halfway between question and answer), in epoch milliseconds. */
  readonly clockMs: number;
  readonly askedAtMs: number;
}

/** How long all commands together may take. */
const answersMsMax = 2_000;
const roundTrips = 5;
/** An arbitrary key. In a cluster it selects the node that is asked. */
const place = 'animal-store';

/** Inspects a server, or a node of a cluster. Changes nothing. Throws if it cannot be reached or does not answer. */
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
  const facts = parseInfo(
    `${await ask('INFO', 'server')}\n${await ask('INFO', 'memory')}\n${await ask('INFO', 'replication')}`,
  );
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
    evictionPolicy: facts.get('maxmemory_policy') ?? 'unknown',
    usedBytes: Number(facts.get('used_memory') ?? 0),
    bytesMax: Number(facts.get('maxmemory') ?? 0),
    roundTripMs,
    clockMs: seconds * 1_000 + Math.floor(microseconds / 1_000),
    askedAtMs: (sentMs + Date.now()) / 2,
  };
}

/** The lines `name:value` of INFO. */
function parseInfo(text: string): Map<string, string> {
  return new Map(
    Array.from(text.matchAll(/^(\w+):(.*?)\r?$/gm), ([, name = '', value = '']) => [name, value]),
  );
}
