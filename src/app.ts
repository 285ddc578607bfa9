import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { selectAnyAccount } from './accounts/account-rows.ts';
import { keyEnvironmentOf } from './accounts/api-key.ts';
import { createKeyVerifier } from './accounts/key-verifier.ts';
import type { IssuedKey, Keyring } from './accounts/keyring.ts';
import { type Clock, minuteMs, secondMs } from './clock.ts';
import type { Config } from './config.ts';
import { OperatorError } from './errors.ts';
import { createEventIds } from './events/event-ids.ts';
import { expireEvents } from './events/expire-events.ts';
import { sequenceEvents } from './events/sequence-events.ts';
import { createCursors } from './http/request/cursor.ts';
import { buildServer } from './http/server.ts';
import { foldInventory } from './inventory/fold-inventory.ts';
import { createJobRunner, type JobRunner } from './jobs/job-runner.ts';
import type { Counters } from './limits/counters.ts';
import { createLimiter } from './limits/limiter.ts';
import { type CounterStore, createCounterStore } from './limits/memory/counter-store.ts';
import { createMemoryCounters } from './limits/memory/memory-counters.ts';
import { createSharedCounters, type SharedCounters } from './limits/redis/shared-counters.ts';
import { exposeFeedLag, exposeWaits } from './observability/feed-metrics.ts';
import { countVerdicts, exposeSharing } from './observability/limit-metrics.ts';
import { exposeDroppedLines, type Log } from './observability/log.ts';
import { createRegistry } from './observability/metrics.ts';
import { createStoreFaults, type StoreFaults } from './observability/store-faults.ts';
import { createStoreMetrics } from './observability/store-metrics.ts';
import { watchCalls } from './observability/watch-calls.ts';
import { buildOperatorServer } from './operator/operator-server.ts';
import { resolvePlan } from './plans/plan.ts';
import type { Database } from './storage/database.ts';
import { readSecret } from './storage/secret-rows.ts';
import { claimServing } from './storage/sqlite/claim-serving.ts';
import { openStore, type Store } from './store.ts';

/** A service that is running. */
export interface App {
  /** Where the public surface listens, without `/v1`. */
  readonly url: string;
  readonly opsUrl: string;
  /** The key of a store that was empty, in development; it is to be shown once. */
  readonly firstKey: IssuedKey | null;
  /** Takes no more connections, finishes what is running, writes what waits in memory; within 10 s. */
  close(): Promise<void>;
}

/** A kill may lose the last second of counts, and under full load a flush may be late. */
const flushMs = secondMs / 2;
/** An animal whose hold is over is available within 2 s. */
const expiryMs = secondMs / 2;
/** An event is readable within a second of its commit. */
const sequencingMs = secondMs / 10;
/** How long requests that are running may take to finish once the service is told to stop. */
export const drainMsMax = 7 * secondMs;
/** How long what waits in memory may take to be written then. */
const lastFlushMsMax = secondMs;
/** How long the store may take to close then. A disk that hangs longer is left to the end of the process. */
const storeCloseMsMax = secondMs / 2;

/** Starts the service of a configuration. Throws OperatorError where it cannot start, with nothing left open. */
export async function startApp(config: Config, clock: Clock, log: Log): Promise<App> {
  const opened: (() => Promise<unknown>)[] = [];
  /** What one step fails with keeps none of the others from their end. */
  const close = async () => {
    const failures: unknown[] = [];
    for (const end of opened.splice(0).reverse()) await end().catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    const registry = createRegistry();
    exposeDroppedLines(registry, log);
    const faults = createStoreFaults(log, clock);
    const watchers = [faults, createStoreMetrics(registry)];
    const watch = (database: Database) => watchCalls(database, watchers);
    // Before the store is opened: by a second name even its opening and closing write over the pages of the first.
    const release = await claimServing(config.databaseUrl);
    opened.push(async () => release());
    const store = await openStore(config, clock, watch);
    opened.push(() => Promise.race([store.close(), sleep(storeCloseMsMax, undefined, { ref: false })]));
    await warnOfForeignKeys(store.keyring, config, log);
    const service = await startService(store, config, clock, log, registry, faults);
    opened.push(service.stop);
    const opsUrl = await service.operatorServer.listen(config.opsHost, config.opsPort);
    opened.push(() => service.operatorServer.close(0));
    const url = await service.server.listen(config.host, config.port);
    opened.push(() => service.server.close(drainMsMax));
    // A key is shown once, so it is made when nothing more can fail.
    const firstKey = config.environment === 'development' ? await issueFirstKey(store.keyring) : null;
    return { url, opsUrl, firstKey, close };
  } catch (error) {
    await close().catch((failure) => log.error({ err: failure }, 'not all that was opened could be closed'));
    throw error;
  }
}

async function startService(
  store: Store,
  config: Config,
  clock: Clock,
  log: Log,
  registry: Registry,
  faults: StoreFaults,
) {
  const { database } = store;
  const verifier = createKeyVerifier(database, clock, {
    environment: keyEnvironmentOf[config.environment],
  });
  database.watchAccounts?.(verifier.forget);
  const secret = await readSecret(database, 'cursor');
  const counting = await openCounters(config, database, secret, clock, log);
  const limiter = createLimiter({
    counters: countVerdicts(counting.counters, registry),
    clock,
    onBan: ({ accountName: account, keyId }, untilMs) =>
      log.warn({ account, keyId, until: new Date(untilMs).toISOString() }, 'a key is banned'),
  });
  const cursors = createCursors(secret);
  const server = buildServer({
    ...config,
    ...store,
    verifier,
    limiter,
    cursors,
    eventIds: createEventIds(secret),
    clock,
    log,
    registry,
  });
  const checks = [{ name: 'the store', findProblem: () => findUnreadiness(database) }];
  const { shared } = counting;
  if (shared !== null) exposeSharing(registry, () => shared.sharing().mode === 'shared');
  const listNotes = () => [...describeSharing(shared), ...faults.listNotes()];
  const operatorServer = buildOperatorServer({ checks, listNotes, registry, log });

  const flush = async () => {
    await Promise.all([counting.store.flush(), verifier.flush()]);
  };
  const jobs = createJobRunner(log);
  jobs.every(flushMs, flush);
  await tendStore(store, jobs, registry);
  const stop = async () => {
    jobs.stop();
    const countsAreElsewhere = shared?.sharing().mode === 'shared';
    shared?.close();
    const lastFlush = Promise.race([flush(), rejectAfter(lastFlushMsMax)]);
    await lastFlush.catch((err) => {
      if (countsAreElsewhere) log.warn({ err }, 'when keys were last used could not be written');
      else log.error({ err }, 'the last second of counts could not be written');
    });
  };
  return { server, operatorServer, stop };
}

/** Has everything done to the store that nobody asks for. */
async function tendStore(
  { database, firstAnswers, orders, tail }: Store,
  jobs: JobRunner,
  registry: Registry,
): Promise<void> {
  exposeWaits(registry, tail);
  jobs.every(minuteMs, () => firstAnswers.sweep());
  jobs.every(secondMs, () => foldInventory(database));
  jobs.every(expiryMs, () => orders.expire());
  jobs.every(minuteMs, () => expireEvents(database));
  const noteLag = exposeFeedLag(registry);
  if (database.engine === 'postgres')
    jobs.every(sequencingMs, async () => noteLag(await sequenceEvents(database)));
  else await sequenceEvents(database);
}

/**
 * Counters in this process, kept in the database; where a Redis is named, counters that all instances share, with
 * those of the process for as long as it is out of reach.
 */
async function openCounters(
  { redisUrl }: Config,
  database: Database,
  secret: Uint8Array,
  clock: Clock,
  log: Log,
): Promise<{ counters: Counters; store: CounterStore; shared: SharedCounters | null }> {
  const local = createMemoryCounters();
  const store = createCounterStore({ counters: local, database, clock });
  await store.load();
  if (redisUrl === null) return { counters: local, store, shared: null };
  // Instances over one store have one secret in common, and so one prefix: stores may share a Redis.
  const prefix = `animal-store:${hash('sha256', secret, 'hex').slice(0, 12)}:`;
  // Its driver is a third of all that a start loads.
  const { createRedisCounters } = await import('./limits/redis/redis-counters.ts');
  const shared = createSharedCounters({
    local,
    clock,
    shared: createRedisCounters({ url: redisUrl, prefix }),
    onChange: (sharing) =>
      log[sharing.mode === 'alone' ? 'warn' : 'info'](sharing, `requests are now counted ${sharing.mode}`),
  });
  await shared.probe();
  return { counters: shared, store, shared };
}

/** How many keys of other environments a start names. */
const foreignKeysMax = 10;

/** A key works only in its own environment: a store that was copied from another may hold keys that do not work here. */
async function warnOfForeignKeys(keyring: Keyring, { environment }: Config, log: Log): Promise<void> {
  const found = await keyring.listForeign(foreignKeysMax + 1);
  if (found.length === 0) return;
  const keyIds = found.slice(0, foreignKeysMax);
  const andMore = found.length > foreignKeysMax;
  log.warn({ keyIds, andMore }, `keys of another environment do not work in ${environment}`);
}

async function issueFirstKey(keyring: Keyring): Promise<IssuedKey | null> {
  const plan = resolvePlan('business', {});
  return 'problem' in plan ? null : await keyring.issueFirst('development', plan);
}

/** What does not answer throws, and the readiness check tells so. */
async function findUnreadiness(database: Database): Promise<string | null> {
  await database.read(selectAnyAccount, { count: 1n });
  return null;
}

/** Nothing, unless this instance should count together with others and does not. */
function describeSharing(shared: SharedCounters | null): string[] {
  const sharing = shared?.sharing();
  if (sharing?.mode !== 'alone') return [];
  return [`the counters: alone since ${new Date(sharing.sinceMs).toISOString()}: ${sharing.reason}`];
}

/** For a store that another program keeps locked, or whose disk hangs: the service ends in time all the same. */
async function rejectAfter(ms: number): Promise<never> {
  await sleep(ms, undefined, { ref: false });
  throw new OperatorError('the store is in use elsewhere, or its disk hangs');
}
