import assert from 'node:assert/strict';
import { findPostgres } from '../../test/support/engines.ts';
import { expectError } from '../../test/support/expect-error.ts';
import {
  amplePlan,
  ask,
  type Instances,
  readMetric,
  startInstances,
  untilAnswered,
} from '../../test/support/instances.ts';
import { type ServiceProcess, until } from '../../test/support/processes.ts';
import { startRedisServer, whyNoRedisServer } from '../../test/support/redis-server.ts';
import { type Relay, startRelay } from '../../test/support/relay.ts';
import { keptQuery, type Load, requireAmong, startLoad } from '../load.ts';
import { Skipped, type TortureContext } from '../scenario.ts';

const count = 2;
/** The requests a minute of an account on Pro. */
const limit = 300;
const sendersCount = 20;
const backMsMax = 30_000;

/** Instances under load over PostgreSQL and Redis, one of them behind a relay. */
export interface SlowWay {
  readonly relay: Relay;
  readonly instances: Instances;
  /** A key of an account with limits that no load reaches. */
  readonly key: string;
  /** One load for each instance. */
  readonly loads: readonly Load[];
}

export async function startSlowWay(context: TortureContext, slow: 'postgres' | 'redis'): Promise<SlowWay> {
  const postgres = await findPostgres();
  const missing = postgres.skip || (await whyNoRedisServer());
  if (missing !== false) throw new Skipped(missing);
  const redis = await startRedisServer(context);
  const started = Promise.withResolvers<Relay>();
  const relayTo = async (url: string) => {
    const relay = await startRelay(context, url);
    started.resolve(relay);
    return relay.url;
  };
  const instances = await startInstances(context, {
    postgres,
    redisUrl: slow === 'redis' ? await relayTo(redis.url) : redis.url,
    reach: async ({ url }) => (slow === 'postgres' ? relayTo(url) : url),
    count,
  });
  const relay = await started.promise;
  const { key } = await instances.createKey(...amplePlan);
  const loads = await Promise.all(
    instances.services.map((service, number) =>
      startLoad(context, service, key, { writers: 8, readers: 4, prefix: `slow ${number}` }),
    ),
  );
  await Promise.all(loads.map((load) => load.until('add 201', 50)));
  return { relay, instances, key, loads };
}

/**
 * Begins another phase and waits until each instance has answered `adds` adds. Returns a function that counts the
 * answers of a kind over all instances.
 */
export async function passPhase({ loads }: SlowWay, adds: number): Promise<(kind: string) => number> {
  for (const load of loads) load.begin();
  await Promise.all(loads.map((load) => load.until('add 201', adds)));
  return (kind) => loads.reduce((sum, { seen }) => sum + (seen.get(kind) ?? 0), 0);
}

/**
 * Sends requests of a new account to all instances in turn: twice as many as would pass if each instance counted alone.
 * Returns the number of requests that passed.
 */
async function countPassed({ instances }: SlowWay): Promise<number> {
  const { key } = await instances.createKey('--plan', 'pro');
  const statuses: number[] = [];
  const send = async (service: ServiceProcess) => {
    const response = await ask(service, key, '/nothing');
    await response.text();
    statuses.push(response.status);
  };
  // Each instance looks up a new key in a separate queue, so this waits until all instances know the key.
  await Promise.all(instances.services.map(send));
  // Only `sendersCount` requests run at once, because the relay shares this thread and must not add more delay.
  const sendOn = async () => {
    while (statuses.length < 2 * count * limit) await send(instances.next());
  };
  await Promise.all(Array.from({ length: sendersCount }, sendOn));
  const others = statuses.filter((status) => status !== 404 && status !== 429);
  assert.deepEqual(others, []);
  return statuses.filter((status) => status === 404).length;
}

/**
 * Requires that the limits are exact across the instances. If an instance logs that it counted alone for a moment, because
 * this machine is busy, counts again with a new account.
 */
export async function requireExact(way: SlowWay): Promise<void> {
  for (;;) {
    await untilShared(way);
    const aloneBefore = countAlone(way);
    const passed = await countPassed(way);
    await untilShared(way);
    if (countAlone(way) === aloneBefore) return assert.equal(passed, limit);
  }
}

/** Returns how often the instances have begun to count alone. They log it before they count together again. */
function countAlone({ instances }: SlowWay): number {
  const logs = instances.services.map(({ readLog }) => readLog());
  return logs.reduce((sum, log) => sum + log.split('this instance counts requests alone').length - 1, 0);
}

/** Requires that an account gets at most its limit at each instance. Returns the number of requests that passed. */
export async function requireAloneAtMost(way: SlowWay): Promise<number> {
  const passed = await countPassed(way);
  assert.ok(passed >= limit && passed <= count * limit, `${passed} passed`);
  return passed;
}

async function untilShared({ instances }: SlowWay): Promise<void> {
  for (const service of instances.services)
    await until(
      () => readMetric(service, 'animal_store_counters_shared'),
      (value) => value === 1,
      backMsMax,
    );
}

/** Waits until each instance serves again. Returns the time in milliseconds. */
export async function untilWell({ instances, key }: SlowWay): Promise<number> {
  const startedMs = performance.now();
  for (const service of instances.services)
    await untilAnswered(service, key, ({ status }) => status === 200, backMsMax);
  return Math.round(performance.now() - startedMs);
}

/** Requires that the health check of each instance succeeds. It does not depend on a store. */
export async function requireHealthy({ instances }: SlowWay): Promise<void> {
  for (const { opsUrl } of instances.services)
    assert.equal((await fetch(`${opsUrl}/healthz`)).status, 200, 'unhealthy');
}

/** Requests a page that is probably not cached from each instance. Returns the slowest time of a 200 or 503, in ms. */
export async function timeAnswers({ instances, key }: SlowWay): Promise<number> {
  const times = await Promise.all(
    instances.services.map(async (service) => {
      const startedMs = performance.now();
      const response = await ask(service, key, '/pets?limit=99');
      if (response.status === 200) await response.text();
      else await expectError(response, 503, 'unavailable');
      return performance.now() - startedMs;
    }),
  );
  return Math.round(Math.max(...times));
}

/** Stops the load and the instances. Throws if an answered add is missing. Returns the number of answered adds. */
export async function finish({ loads, instances }: SlowWay): Promise<number> {
  const answered = new Map((await Promise.all(loads.map((load) => load.stop()))).flatMap((all) => [...all]));
  for (const service of instances.services) {
    const { code, signal } = await service.end('SIGTERM');
    assert.equal(code, 0, `an instance ended with ${code ?? signal}: ${service.readLog()}`);
  }
  requireAmong((await instances.store.execute(keptQuery)) as Record<string, unknown>[], answered);
  return answered.size;
}
