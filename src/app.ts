import { setTimeout as sleep } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { selectAnyAccount } from './accounts/account-rows.ts';
import { keyEnvironmentOf } from './accounts/api-key.ts';
import { createKeyVerifier } from './accounts/key-verifier.ts';
import type { IssuedKey, Keyring } from './accounts/keyring.ts';
import { type Clock, hourMs, minuteMs, secondMs } from './clock.ts';
import type { Config } from './config.ts';
import { deliverWebhooks } from './deliver-webhooks.ts';
import { createEventIds, type EventIds } from './events/event-ids.ts';
import { expireEvents } from './events/expire-events.ts';
import { sequenceEvents } from './events/sequence-events.ts';
import type { HttpService } from './http/connection/http-service.ts';
import { countUsage } from './http/count-usage.ts';
import { createCursors } from './http/request/cursor.ts';
import { buildServer } from './http/server.ts';
import { foldInventory } from './inventory/fold-inventory.ts';
import { createJobRunner, type JobRunner } from './jobs/job-runner.ts';
import { flushLast, lastFlushMs } from './last-flush.ts';
import type { Counters } from './limits/counters.ts';
import { createLiftFollower, type LiftFollower } from './limits/follow-lifts.ts';
import { createLimiter, type KeyCaller } from './limits/limiter.ts';
import type { LookAtUsage } from './limits/stored-usage.ts';
import { exposeFeedLag, exposeWaits } from './observability/feed-metrics.ts';
import { countVerdicts, exposeSharing } from './observability/limit-metrics.ts';
import { exposeDroppedLines, type Log } from './observability/log.ts';
import { createRegistry } from './observability/metrics.ts';
import { createStoreFaults, type StoreFaults } from './observability/store-faults.ts';
import { createStoreMetrics } from './observability/store-metrics.ts';
import { watchCalls } from './observability/watch-calls.ts';
import { describeSharing, openCounters } from './open-counters.ts';
import { buildConsole } from './operator/console/console.ts';
import { createVitals, noteEveryMs, type Vitals } from './operator/console/vitals.ts';
import { findProblems } from './operator/health-routes.ts';
import { buildOperatorServer } from './operator/operator-server.ts';
import { createSessions } from './operator/sessions/sessions.ts';
import { resolvePlan } from './plans/plan.ts';
import { warnOfForeignKeys, warnOfNoKeys } from './startup-warnings.ts';
import type { Database } from './storage/database.ts';
import { readSecret } from './storage/secret-rows.ts';
import { claimServing } from './storage/sqlite/claim-serving.ts';
import { openStore, type Store } from './store.ts';
import { createUsageCounts } from './usage/usage.ts';
import { createSecretBox } from './webhooks/secret-box.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

/** A running service. */
export interface App {
  /** The address of the public port, without `/v1`. */
  readonly url: string;
  readonly opsUrl: string;
  /** The first key of an empty store, only in development. Show it now, because it cannot be read later. */
  readonly firstKey: IssuedKey | null;
  /**
   * Graceful shutdown: accepts no more connections, finishes running requests, and flushes the counts in memory.
   * Takes at most 10 s.
   */
  close(): Promise<void>;
}

/**
 * Interval in ms at which counts are flushed. A kill may lose at most one second of counts. Half of that leaves room
 * for a flush that is late under full load.
 */
const flushMs = secondMs / 2;
/** Interval in ms at which holds expire. An animal must be available within 2 s after its hold expires. */
const expiryMs = secondMs / 2;
/** Interval in ms at which events get their positions. An event must be readable within 1 s of its commit. */
const sequencingMs = secondMs / 10;
/** Time in ms that running requests may take at shutdown. */
export const drainMsMax = 7 * secondMs;
/** Time in ms that running requests and the last flush may take together at shutdown. */
const drainAndFlushMsMax = drainMsMax + lastFlushMs.least;
/**
 * Time in ms that the store may take to close at shutdown. If the disk hangs longer, the store closes when the
 * process ends.
 */
const storeCloseMsMax = secondMs / 2;

/** Starts the service. If it cannot start, throws OperatorError and closes everything that it opened. */
export async function startApp(config: Config, clock: Clock, log: Log): Promise<App> {
  const opened: ((flushUntilMs: number) => Promise<unknown>)[] = [];
  /** Runs every step even if one fails, then throws the first failure. */
  const close = async () => {
    const failures: unknown[] = [];
    const flushUntilMs = performance.now() + drainAndFlushMsMax;
    for (const end of opened.splice(0).reverse())
      await end(flushUntilMs).catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    const registry = createRegistry();
    exposeDroppedLines(registry, log);
    const faults = createStoreFaults(log, clock);
    const watchers = [faults, createStoreMetrics(registry)];
    const watch = (database: Database) => watchCalls(database, watchers);
    // The claim comes before the store is opened, because opening a file under a second name can already overwrite
    // pages.
    const release = await claimServing(config.databaseUrl);
    opened.push(async () => release());
    const store = await openStore(config, clock, watch);
    opened.push(() => Promise.race([store.close(), sleep(storeCloseMsMax, undefined, { ref: false })]));
    await warnOfForeignKeys(store.keyring, config, log);
    await warnOfNoKeys(store, config, log);
    const service = await startService(store, config, clock, log, registry, faults);
    opened.push(service.stop);
    const opsUrl = await service.operatorServer.listen(config.opsHost, config.opsPort);
    opened.push(() => service.operatorServer.close(0));
    const url = await service.server.listen(config.host, config.port);
    opened.push(() => Promise.all([service.server.close(drainMsMax), service.stopDelivery()]));
    // A key is shown only once, so it is created after everything that can fail.
    const firstKey = config.environment === 'development' ? await issueFirstKey(store.keyring) : null;
    return { url, opsUrl, firstKey, close };
  } catch (error) {
    await close().catch((failure) => log.error({ err: failure }, 'the start failed, and so did the cleanup'));
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
  const environment = keyEnvironmentOf[config.environment];
  const verifier = createKeyVerifier(database, clock, { environment });
  database.watchAccounts?.(verifier.forget);
  const secret = await readSecret(database, 'cursor');
  const counting = await openCounters(config, database, secret, clock, log);
  const limiter = createLimiter({
    counters: countVerdicts(counting.counters, registry),
    clock,
    onBan: (caller, untilMs) => logBan(log, caller, untilMs),
  });
  const usage = createUsageCounts(database, clock);
  const cursors = createCursors(secret);
  const eventIds = createEventIds(secret);
  const box = createSecretBox(config.webhookSecretKeys);
  const server = buildServer({
    ...config,
    ...store,
    verifier,
    limiter,
    cursors,
    eventIds,
    webhooks: createWebhooks(database, eventIds, box),
    allowsHttp: config.environment === 'development',
    clock,
    log,
    registry,
    observers: [countUsage(usage)],
  });
  const { shared } = counting;
  if (shared !== null) exposeSharing(registry, () => shared.sharing().mode === 'shared');
  const listNotes = () => [...describeSharing(shared), ...faults.listNotes()];
  const vitals = createVitals(registry, clock);
  const parts = { vitals, listNotes, counters: counting.counters, eventIds };
  const operatorServer = buildOperator(store, config, clock, log, registry, parts);

  const flush = () => Promise.all([counting.store.flush(), verifier.flush(), usage.flush()]);
  const jobs = createJobRunner(log);
  jobs.every(flushMs, flush);
  jobs.every(noteEveryMs, vitals.note);
  jobs.every(minuteMs, usage.sweep);
  await followLifts(createLiftFollower(database, counting.counters, clock), jobs, log);
  await startStoreJobs(store, jobs, registry);
  const delivery = { config, ids: eventIds, box, jobs, log, registry };
  const stopDelivery = await deliverWebhooks(store, delivery);
  const stop = async (flushUntilMs: number) => {
    jobs.stop();
    await flushLast(flush, flushUntilMs - performance.now(), shared, log);
  };
  return { server, operatorServer, stop, stopDelivery };
}

interface OperatorParts {
  readonly vitals: Vitals;
  readonly listNotes: () => readonly string[];
  readonly counters: Counters;
  readonly eventIds: EventIds;
}

/** Builds the server of the operator's port, including the console. */
function buildOperator(
  store: Store,
  { environment, consoleUrl }: Config,
  clock: Clock,
  log: Log,
  registry: Registry,
  { vitals, listNotes, counters, eventIds }: OperatorParts,
): HttpService {
  const look: LookAtUsage = (subject) => counters.look(subject, clock());
  const { database } = store;
  const checks = [{ name: 'the store', findProblem: () => findUnreadiness(database) }];
  const readHealth = async () => ({ problems: await findProblems(checks, secondMs), notes: listNotes() });
  const sessions = createSessions(database, clock);
  const services = { ...store, sessions, vitals, look, clock, environment, readHealth, eventIds };
  const console = buildConsole(services, consoleUrl);
  return buildOperatorServer({ checks, listNotes, registry, console, log });
}

function logBan(log: Log, { accountName: account, keyId }: KeyCaller, untilMs: number): void {
  log.warn({ account, keyId, until: new Date(untilMs).toISOString() }, 'a key is banned');
}

/**
 * Applies the lifts of bans that are recorded in the store, now and every second. Operators may have lifted bans while
 * no service ran. A failure of the store or Redis does not stop the start.
 */
async function followLifts({ follow }: LiftFollower, jobs: JobRunner, log: Log): Promise<void> {
  await follow().catch((err) =>
    log.warn({ err }, 'lifted bans could not be read; the service tries again every second'),
  );
  jobs.every(secondMs, follow);
}

async function startStoreJobs(
  { database, audit, firstAnswers, orders, tail }: Store,
  jobs: JobRunner,
  registry: Registry,
): Promise<void> {
  exposeWaits(registry, tail);
  jobs.every(minuteMs, () => firstAnswers.sweep());
  jobs.every(hourMs, () => audit.sweep());
  jobs.every(secondMs, () => foldInventory(database));
  jobs.every(expiryMs, () => orders.expire());
  jobs.every(minuteMs, () => expireEvents(database));
  const noteLag = exposeFeedLag(registry);
  if (database.engine === 'postgres')
    jobs.every(sequencingMs, () => sequenceEvents(database, undefined, noteLag));
  else await sequenceEvents(database);
}

async function issueFirstKey(keyring: Keyring): Promise<IssuedKey | null> {
  const plan = resolvePlan('business', {});
  return 'problem' in plan ? null : await keyring.issueFirst('development', plan);
}

/** Throws if the store does not respond. The readiness check reports the error. */
async function findUnreadiness(database: Database): Promise<string | null> {
  await database.read(selectAnyAccount, { count: 1n });
  return null;
}
