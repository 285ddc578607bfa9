import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../errors.ts';
import { openRedisConnection } from '../limits/redis/connection.ts';
import { showRedisHosts } from '../setting-values.ts';
import { type Finding, ok, problem, warning, warnUnless } from './finding.ts';
import { compareClocks } from './store.ts';

type Ask = (...command: string[]) => Promise<unknown>;

/** Timeout in ms for all commands together. */
const answersMsMax = 2_000;
const roundTrips = 5;
/** Time in ms above which a round trip counts as slow: a tenth of the 300 ms after which an instance counts alone. */
const roundTripMsMax = 30;
const fullAt = 0.9;
/** An arbitrary key. In a cluster it selects the node to check. */
const anyKey = 'animal-store';

/** Checks the Redis or Valkey server in which instances share their counts, or one node of a cluster. Changes nothing. */
export async function checkRedis(url: string): Promise<Finding[]> {
  const server = `Redis ${showRedisHosts(url)}`;
  try {
    const { send, destroy } = await openRedisConnection([url]);
    try {
      const checking = checkServer((...command) => send(anyKey, command), server);
      const findings = await Promise.race([checking, sleep(answersMsMax, null, { ref: false })]);
      if (findings === null) throw new Error('Redis does not answer');
      return findings;
    } finally {
      destroy();
    }
  } catch (error) {
    const todo = 'check that it runs and that REDIS_URL names it; until then each instance counts alone';
    return [problem('redis', `${server} cannot be used: ${reasonOf(error)}`, todo)];
  }
}

async function checkServer(ask: Ask, server: string): Promise<Finding[]> {
  const facts = parseInfo(String(await ask('INFO')));
  const todo =
    'set "appendonly yes" and "appendfsync everysec": otherwise a restart forgets all counts and bans';
  return [
    await checkAnswer(ask, server, facts),
    facts['aof_enabled'] === '1'
      ? ok('redis', 'appendonly is on')
      : warning('redis', 'appendonly is off', todo),
    checkMemory(facts),
    await compareClocks('Redis', () => readClock(ask)),
  ];
}

type Facts = Readonly<Record<string, string | undefined>>;

function parseInfo(text: string): Facts {
  const lines = text.matchAll(/^(\w+):(.*?)\r?$/gm);
  return Object.fromEntries(Array.from(lines, ([, name, value]) => [name, value]));
}

async function checkAnswer(ask: Ask, server: string, facts: Facts): Promise<Finding> {
  let shortestMs = Number.POSITIVE_INFINITY;
  for (let count = 0; count < roundTrips; count += 1) {
    const sentMs = performance.now();
    await ask('PING');
    shortestMs = Math.min(shortestMs, performance.now() - sentMs);
  }
  const version = facts['valkey_version'] ?? facts['redis_version'] ?? 'unknown';
  const is = `${server} answers in ${shortestMs.toFixed(1)} ms, version ${version}`;
  if (facts['role'] === 'slave')
    return problem('redis', `${is}; it is a replica and cannot count`, 'name the primary in REDIS_URL');
  const todo = 'move it closer to the service: every request waits for it';
  return warnUnless(shortestMs <= roundTripMsMax, 'redis', is, todo);
}

function checkMemory(facts: Facts): Finding {
  const policy = facts['maxmemory_policy'] ?? 'unknown';
  const is = `maxmemory-policy is ${policy}`;
  const evicts = 'a full Redis evicts current counts, and too many requests pass the limits';
  if (policy !== 'noeviction') return warning('redis', is, `set it to noeviction: otherwise ${evicts}`);
  // A maximum of 0 means no limit.
  const [used, most] = [Number(facts['used_memory'] ?? 0), Number(facts['maxmemory'] ?? 0)];
  if (most === 0 || used <= most * fullAt) return ok('redis', is);
  const full = `${is}; ${Math.round((used / most) * 100)} % of maxmemory is used`;
  return warning('redis', full, 'raise maxmemory: when it is full, each instance counts alone');
}

async function readClock(ask: Ask): Promise<number> {
  const [seconds = 0, microseconds = 0] = ((await ask('TIME')) as string[]).map(Number);
  return seconds * 1_000 + microseconds / 1_000;
}
