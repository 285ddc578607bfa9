import { reasonOf } from '../errors.ts';
import { inspectRedis, type RedisInspection } from '../limits/redis/inspection.ts';
import { compareClocks } from './clock.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

/** Time in ms above which a round trip counts as slow: a tenth of the 300 ms after which an instance counts alone. */
const roundTripMsMax = 30;
const fullAt = 0.9;

/** Checks the Redis or Valkey server in which instances share their counts. */
export async function checkRedis(url: string): Promise<Finding[]> {
  const server = `Redis ${new URL(url).host}`;
  try {
    const report = await inspectRedis(url);
    return [
      checkAnswer(server, report),
      checkMemory(report),
      compareClocks('Redis', report.clockMs, report.askedAtMs),
    ];
  } catch (error) {
    const todo = 'check that it runs and that REDIS_URL names it; until then each instance counts alone';
    return [problem('redis', `${server} cannot be used: ${reasonOf(error)}`, todo)];
  }
}

function checkAnswer(server: string, { version, isPrimary, roundTripMs }: RedisInspection): Finding {
  const is = `${server} answers in ${roundTripMs.toFixed(1)} ms, version ${version}`;
  if (!isPrimary)
    return problem('redis', `${is}; it is a replica and cannot count`, 'name the primary in REDIS_URL');
  if (roundTripMs > roundTripMsMax)
    return warning('redis', is, 'move it closer to the service: every request waits for it');
  return ok('redis', is);
}

function checkMemory({ evictionPolicy, usedBytes, bytesMax }: RedisInspection): Finding {
  const is = `maxmemory-policy is ${evictionPolicy}`;
  if (evictionPolicy !== 'noeviction') {
    const todo =
      'set it to noeviction: otherwise a full Redis evicts current counts, and too many requests pass the limits';
    return warning('redis', is, todo);
  }
  if (bytesMax > 0 && usedBytes > bytesMax * fullAt) {
    const full = `${is}; ${Math.round((usedBytes / bytesMax) * 100)} % of maxmemory is used`;
    return warning('redis', full, 'raise maxmemory: when it is full, each instance counts alone');
  }
  return ok('redis', is);
}
