import { setTimeout as sleep } from 'node:timers/promises';
import { reasonOf } from '../errors.ts';
import { openRedisConnection, type RedisConnection } from '../limits/redis/connection.ts';
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
/** Begins the keys of the doctor, which expire within a day. In a cluster it selects the node to check. */
const place = 'animal-store:{doctor}';

/**
 * Checks the Redis or Valkey server in which instances share their counts, or one node of a cluster. Counts a request of
 * its own, and changes nothing else.
 */
export async function checkRedis(url: string): Promise<Finding[]> {
  const server = `Redis ${showRedisHosts(url)}`;
  try {
    const { send, run, destroy } = await openRedisConnection([url]);
    try {
      const checking = checkServer((...command) => send(place, command), run, server);
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

async function checkServer(ask: Ask, run: RedisConnection['run'], server: string): Promise<Finding[]> {
  const info = await ask('INFO').then(String, (error: Error) => error);
  const isUnknown = info instanceof Error;
  const facts = isUnknown ? {} : parseInfo(info);
  const answer = await checkAnswer(ask, server, facts);
  const counting = await checkCounting(run);
  const settings = isUnknown ? [describeUnknown(info)] : [checkLog(facts), checkMemory(facts)];
  const clocks = await compareClocks('Redis', () => readClock(ask));
  return [answer, counting, ...settings, clocks];
}

/** The parameters of a count as `redis-counters.ts` sends them. `bound` is the strikes for a ban, or the known addresses. */
function countOne(bound: number): string[] {
  const byClockOfRedis = '';
  const perMinute = 1;
  const perDay = 1;
  const requests = 1;
  return [byClockOfRedis, ...[perMinute, perDay, requests, bound].map(String)];
}

/** No ban or count is as old as this, so to lift or to reset what began before it changes nothing. */
const longAgo = '0';

/** Runs every script of the counters, because a user may lack the right to one command of one script. */
async function checkCounting(run: RedisConnection['run']): Promise<Finding> {
  try {
    await run('takeForKey', [place, `${place}:key`], countOne(1));
    // With room for no address, the script also runs the commands that forget one.
    await run('takeForAddress', [`${place}:address`, `${place}:addresses`], countOne(0));
    await run('lift', [`${place}:key`], [longAgo]);
    await run('reset', [place], [longAgo]);
    return ok('redis', 'instances can count together');
  } catch (error) {
    const is = `instances cannot count together: ${reasonOf(error)}`;
    const todo =
      'name the primary in REDIS_URL, and give its user the commands of docs/scaling.md; until then each instance counts alone';
    return problem('redis', is, todo);
  }
}

function describeUnknown(error: Error): Finding {
  const is = `appendonly and maxmemory-policy are unknown: ${reasonOf(error)}`;
  return warning('redis', is, 'let the user run INFO, or check both as an administrator');
}

function checkLog(facts: Facts): Finding {
  if (facts['aof_enabled'] === '1') return ok('redis', 'appendonly is on');
  const todo =
    'set "appendonly yes" and "appendfsync everysec": otherwise a restart forgets all counts and bans';
  return warning('redis', 'appendonly is off', todo);
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
    await ask('TIME');
    shortestMs = Math.min(shortestMs, performance.now() - sentMs);
  }
  const version = facts['valkey_version'] ?? facts['redis_version'] ?? 'unknown';
  const is = `${server} answers in ${shortestMs.toFixed(1)} ms, version ${version}`;
  const todo = 'move it closer to the service: every request waits for it';
  return warnUnless(shortestMs <= roundTripMsMax, 'redis', is, todo);
}

function checkMemory(facts: Facts): Finding {
  const policy = facts['maxmemory_policy'] ?? 'unknown';
  const is = `maxmemory-policy is ${policy}`;
  const evicts = 'a full Redis evicts current counts, and too many requests pass the limits';
  if (policy !== 'noeviction') return warning('redis', is, `set it to noeviction: otherwise ${evicts}`);
  // A maximum of 0 means no limit.
  const most = Number(facts['maxmemory'] ?? 0);
  const used = Number(facts['used_memory'] ?? 0);
  if (most === 0 || used <= most * fullAt) return ok('redis', is);
  const percent = Math.round((used / most) * 100);
  const full = `${is}; ${percent} % of maxmemory is used`;
  return warning('redis', full, 'raise maxmemory: when it is full, each instance counts alone');
}

async function readClock(ask: Ask): Promise<number> {
  const answer = (await ask('TIME')) as string[];
  const [seconds = 0, microseconds = 0] = answer.map(Number);
  return seconds * 1_000 + microseconds / 1_000;
}
