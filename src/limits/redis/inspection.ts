import { setTimeout as sleep } from 'node:timers/promises';
import { openRedisConnection } from './connection.ts';

/** What a look at the Redis or Valkey of the counters tells. */
export interface RedisInspection {
  readonly version: string;
  /** Whether it takes writes: a replica does not. */
  readonly isPrimary: boolean;
  readonly evictionPolicy: string;
  /** Bytes of memory used, and the bound of them; a bound of 0 is none. */
  readonly usedBytes: number;
  readonly bytesMax: number;
  /** The quickest of a few round trips. */
  readonly roundTripMs: number;
  /** What its clock told, and when by ours that was, halfway between question and answer; epoch milliseconds. */
  readonly clockMs: number;
  readonly askedAtMs: number;
}

/** How long all questions together may take. */
const answersMsMax = 2_000;
const roundTrips = 5;
/** Any key: in a cluster it names the node that is asked. */
const place = 'animal-store';

/** Looks at a server, or a node of a cluster; counts nothing. Throws where it cannot be reached or does not answer. */
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
