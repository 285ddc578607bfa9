import { keyEnvironmentOf } from '../accounts/api-key.ts';
import type { Clock } from '../clock.ts';
import type { Environment } from '../config.ts';
import { reasonOf } from '../errors.ts';
import { formatBytes } from '../observability/safe-text.ts';
import { showRedisHosts } from '../setting-values.ts';
import { describeServer } from '../storage/postgres/client.ts';
import { connectionsMax } from '../storage/postgres/connections.ts';
import { inspectPostgres, type PostgresInspection } from '../storage/postgres/inspection.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import { inspectRedis, type RedisInspection } from './inspect-redis.ts';
import { checkContent, compareClocks } from './store.ts';

/** The oldest major version of PostgreSQL with which the service is tested. */
const majorMin = 15;

/** Checks a PostgreSQL server and the store on it. A start asks for the same requirements (requirements.ts). */
export async function checkPostgres(url: string, environment: Environment, clock: Clock): Promise<Finding[]> {
  const server = `PostgreSQL ${describeServer(url)}`;
  try {
    const report = await inspectPostgres(url, keyEnvironmentOf[environment]);
    return [
      checkVersion(server, report.version),
      ...report.requirements.map(({ check, is, todo }) =>
        todo === null ? ok(check, is) : problem(check, is, todo),
      ),
      checkCommits(report.unsafeSettings),
      checkConnections(report),
      ok('size', `the database takes ${formatBytes(report.bytes)}; autovacuum gives unused space back`),
      compareClocks('PostgreSQL', report.clockMs, report.askedAtMs),
      ...checkContent(report, environment, clock()),
    ];
  } catch (error) {
    const todo = 'check that the server runs, that DATABASE_URL names it, and that its user may connect';
    return [problem('store', `${server} cannot be used: ${reasonOf(error)}`, todo)];
  }
}

function checkVersion(server: string, version: string): Finding {
  const is = `${server} answers, version ${version}`;
  if (Number.parseInt(version, 10) >= majorMin) return ok('store', is);
  return warning('store', is, `move to PostgreSQL ${majorMin} or newer: older ones are not tested`);
}

/** Checks that a commit survives a power failure. */
function checkCommits(unsafeSettings: readonly string[]): Finding {
  if (unsafeSettings.length === 0) return ok('durability', 'a commit is on disk before it is confirmed');
  const names = unsafeSettings.join(', ');
  return problem(
    'durability',
    `off: ${names}; a crash of the server can lose writes that the service answered`,
    `set ${names} to on, for this database, this user and the server`,
  );
}

/** Checks that the server has enough free connections for one more instance. */
function checkConnections({ connectionsMax: most, connectionsOpen: open }: PostgresInspection): Finding {
  const is = `${open} of ${most} connections are open; an instance takes up to ${connectionsMax}`;
  if (most - open >= connectionsMax) return ok('connections', is);
  const todo = 'raise max_connections, or see in pg_stat_activity which clients keep connections open';
  return warning('connections', is, todo);
}

/** Time in ms above which a round trip counts as slow: a tenth of the 300 ms after which an instance counts alone. */
const roundTripMsMax = 30;
const fullAt = 0.9;

/** Checks the Redis or Valkey server in which instances share their counts. */
export async function checkRedis(url: string): Promise<Finding[]> {
  const server = `Redis ${showRedisHosts(url)}`;
  try {
    const report = await inspectRedis(url);
    return [
      checkAnswer(server, report),
      checkDurability(report),
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

function checkDurability({ isDurable }: RedisInspection): Finding {
  if (isDurable) return ok('redis', 'appendonly is on');
  const todo =
    'set "appendonly yes" and "appendfsync everysec": otherwise a restart forgets all counts and bans';
  return warning('redis', 'appendonly is off', todo);
}

function checkMemory({ evictionPolicy, usedBytes, bytesMax }: RedisInspection): Finding {
  const is = `maxmemory-policy is ${evictionPolicy}`;
  const evicts = 'a full Redis evicts current counts, and too many requests pass the limits';
  if (evictionPolicy !== 'noeviction')
    return warning('redis', is, `set it to noeviction: otherwise ${evicts}`);
  if (bytesMax === 0 || usedBytes <= bytesMax * fullAt) return ok('redis', is);
  const full = `${is}; ${Math.round((usedBytes / bytesMax) * 100)} % of maxmemory is used`;
  return warning('redis', full, 'raise maxmemory: when it is full, each instance counts alone');
}
