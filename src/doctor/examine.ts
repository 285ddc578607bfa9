import type { Clock } from '../clock.ts';
import type { Config } from '../config.ts';
import { parseStoreAddress } from '../storage/store-address.ts';
import { checkClock } from './clock.ts';
import { type Finding, problem, reasonOf } from './finding.ts';
import { checkNode, checkSecretFiles } from './machine.ts';
import { checkPort, listSurfaces } from './ports.ts';
import { checkPostgres } from './postgres.ts';
import { checkRedis } from './redis.ts';
import { checkSettings } from './settings.ts';
import { checkSqlite, type StoreCheck } from './sqlite.ts';

/** How long the file of a store is read before the check gives up on it. */
const lookMsMax = 20_000;

/**
 * Looks at everything that the service stands on and tells what it found, in a fixed order; changes nothing and never
 * throws. Every wait is bounded: all of it takes half a minute at most. Where the settings are wrong, what they name
 * is not looked at.
 */
export async function examine(readConfig: () => Config, clock: Clock): Promise<Finding[]> {
  const machine = [checkNode(), checkClock(clock())];
  let config: Config;
  try {
    config = readConfig();
  } catch (error) {
    const todo = 'docs/settings.md says what each must be; nothing that they name was looked at';
    return [problem('settings', reasonOf(error), todo), ...machine];
  }
  const { redisUrl } = config;
  const store = checkStore(config, clock);
  const isServed = store.then(
    (told) => told.isServed,
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
    settle('port', Promise.all(listSurfaces(config).map((surface) => checkPort(surface, isServed)))),
    settle('secrets', checkSecretFiles()),
  ]);
  return groups.flat();
}

/** A check that fails itself is a problem, and keeps none of the others from being told. */
function settle(check: string, findings: Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  return findings.catch((error: unknown) => [
    problem(check, `it cannot be checked: ${reasonOf(error)}`, 'run the doctor as the user of the service'),
  ]);
}

async function checkStore({ databaseUrl, environment }: Config, clock: Clock): Promise<StoreCheck> {
  const { engine, location } = parseStoreAddress(databaseUrl);
  if (engine === 'postgres')
    return { findings: await checkPostgres(location, environment, clock), isServed: null };
  return checkSqlite(location, { clock, environment, lookMsMax });
}
