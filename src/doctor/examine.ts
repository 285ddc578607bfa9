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
 * Checks everything that the service depends on and returns the findings in a fixed order. Changes nothing but a count in
 * Redis, never throws, and takes at most 30 s. If the settings are invalid, checks only Node.js and the clock.
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
  const [store, redis, secrets] = await Promise.all([
    checkStore(config, clock).catch((error) => ({ findings: [notChecked('store', error)], isServed: null })),
    redisUrl === null ? [] : checkRedis(redisUrl).catch((error) => [notChecked('redis', error)]),
    checkSecretFiles().catch((error) => [notChecked('secrets', error)]),
  ]);
  const ports = await checkPorts(config, store.isServed).catch((error) => [notChecked('port', error)]);
  return [...checkSettings(config), ...machine, ...store.findings, ...redis, ...ports, ...secrets];
}

function notChecked(check: string, error: unknown): Finding {
  const todo = 'run the doctor as the user of the service';
  return problem(check, `it cannot be checked: ${reasonOf(error)}`, todo);
}

async function checkStore(config: Config, clock: Clock): Promise<StoreCheck> {
  const { engine, location } = parseStoreAddress(config.databaseUrl);
  if (engine === 'sqlite') return checkSqlite(location, config, clock);
  return { findings: await checkPostgres(location, config, clock), isServed: null };
}
