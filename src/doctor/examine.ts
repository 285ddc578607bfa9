import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { reasonOf } from '../errors.ts';
import type { Misnamed } from '../setting-sources.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { type Finding, problem, warning } from './finding.ts';
import { checkClock, checkNode, checkSecretFiles } from './machine.ts';
import { checkPorts } from './ports.ts';
import { checkPostgres } from './postgres.ts';
import { checkRedis } from './redis.ts';
import { checkSettings } from './settings.ts';
import { checkSqlite, type StoreCheck } from './sqlite.ts';

/** What is examined: the settings and where they come from. */
export interface Examined {
  /** Throws OperatorError if a setting is invalid. */
  readonly readConfig: () => Config;
  readonly misnamed: readonly Misnamed[];
  /** The files with secrets that the settings name. */
  readonly secretFiles: readonly string[];
  readonly clock: Clock;
}

/**
 * Checks everything that the service depends on and returns the findings in a fixed order. Changes nothing but a count in
 * Redis, never throws, and takes at most 30 s. If the settings are invalid, checks only their names, Node.js and the clock.
 */
export async function examine({ readConfig, misnamed, secretFiles, clock }: Examined): Promise<Finding[]> {
  const machine = [...misnamed.map(describeMisnamed), checkNode(), checkClock(clock())];
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
    checkSecretFiles(secretFiles).catch((error) => [notChecked('secrets', error)]),
  ]);
  const ports = await checkPorts(config, store.isServed).catch((error) => [notChecked('port', error)]);
  return [...checkSettings(config), ...machine, ...store.findings, ...redis, ...ports, ...secrets];
}

function describeMisnamed({ variable, meant }: Misnamed): Finding {
  const is = `${variable} is not a setting and changes nothing`;
  return warning('settings', is, `remove it, or rename it if ${meant} is meant`);
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
