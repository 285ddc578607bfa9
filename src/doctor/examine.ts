import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { reasonOf } from '../errors.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { type Finding, problem } from './finding.ts';
import { checkClock, checkNode, checkSecretFiles } from './machine.ts';
import { checkPorts } from './ports.ts';
import { checkPostgres } from './postgres.ts';
import { checkRedis } from './redis.ts';
import { checkSettings } from './settings.ts';
import { checkSqlite, type StoreCheck } from './sqlite.ts';

/**
 * Checks everything that the service depends on and returns the findings in a fixed order. Changes nothing and never
 * throws. Takes at most 30 s, because every wait is bounded. If the settings are invalid, checks only Node.js and the
 * clock.
 */
export async function examine(readConfig: () => Config, clock: Clock): Promise<Finding[]> {
  const machine = [checkNode(), checkClock(clock())];
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    const todo = 'correct the settings (docs/settings.md); store, Redis and ports were not checked';
    return [problem('settings', reasonOf(error), todo), ...machine];
  }
  const { redisUrl } = config;
  const store = checkStore(config, clock);
  const isServed = store.then(
    (report) => report.isServed,
    () => null,
  );
  const groups = await Promise.all([
    checkSettings(config),
    machine,
    settle(
      'store',
      store.then(({ findings }) => findings),
    ),
    redisUrl === null ? [] : settle('redis', checkRedis(redisUrl)),
    settle('port', checkPorts(config, isServed)),
    settle('secrets', checkSecretFiles()),
  ]);
  return groups.flat();
}

/** Converts an exception of one check into a problem, so that the findings of the other checks are still returned. */
function settle(check: string, findings: Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  return findings.catch((error: unknown) => [
    problem(check, `it cannot be checked: ${reasonOf(error)}`, 'run the doctor as the user of the service'),
  ]);
}

async function checkStore({ databaseUrl, environment }: Config, clock: Clock): Promise<StoreCheck> {
  const { engine, location } = parseStoreAddress(databaseUrl);
  if (engine === 'postgres')
    return { findings: await checkPostgres(location, environment, clock), isServed: null };
  return checkSqlite(location, environment, clock);
}
