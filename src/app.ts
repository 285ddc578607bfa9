import { setTimeout as sleep } from 'node:timers/promises';
import { selectAnyAccount } from './accounts/account-rows.ts';
import { keyEnvironmentOf } from './accounts/api-key.ts';
import { createKeyVerifier } from './accounts/key-verifier.ts';
import { createKeyring, type Keyring } from './accounts/keyring.ts';
import { type Clock, minuteMs, secondMs } from './clock.ts';
import type { Config } from './config.ts';
import { type DeliveryOptions, deliverWebhooks } from './deliver-webhooks.ts';
import { describeFailure, isUnavailable, OperatorError, reasonOf } from './errors.ts';
import { createEventIds, type EventIds } from './events/event-ids.ts';
import { connectionsMax } from './http/connection/bounds.ts';
import {
  type ConnectionShares,
  readDescriptorLimit,
  shareDescriptors,
} from './http/connection/descriptors.ts';
import type { HttpService } from './http/http-service.ts';
import { createCursors } from './http/request/cursor.ts';
import type { RequestObserver } from './http/request-log.ts';
import { countUsage } from './http/request-metrics.ts';
import { buildServer } from './http/server.ts';
import { createClockWatch } from './jobs/clock-watch.ts';
import { createInstances, type Instances } from './jobs/instances.ts';
import { createJobRunner, type JobRunner } from './jobs/job-runner.ts';
import { createCorrectionFollower } from './limits/corrections.ts';
import type { LookAtUsage } from './limits/counters.ts';
import { createLimiter } from './limits/limiter.ts';
import { beginsBan } from './limits/rules/decision.ts';
import { exposeDroppedLines, type Log } from './observability/log.ts';
import { createLogSwitch, type LogSwitch } from './observability/log-changes.ts';
import { createRegistry, expose } from './observability/metrics.ts';
import { exposeFeedLag, exposeVerdicts } from './observability/room-metrics.ts';
import { createStoreWatch, exposeStoreSize } from './observability/store-watch.ts';
import { describeSharing, flushLast, lastFlushMs, type OpenCounters, openCounters } from './open-counters.ts';
import { buildConsole } from './operator/console/console.ts';
import { createVitals, noteEveryMs, type Vitals } from './operator/console/vitals.ts';
import { findProblems } from './operator/health.ts';
import { buildOperatorServer } from './operator/operator-server.ts';
import { createSessions, type Sessions } from './operator/sessions.ts';
import { listedLimits } from './plans/plan.ts';
import { type JobParts, listJobs } from './service-jobs.ts';
import { readSecret } from './storage/store-facts.ts';
import { openServedStore } from './store.ts';
import { createFailedRequests } from './usage/failed-requests.ts';
import { createStrangers } from './usage/strangers.ts';
import { createUsageCounts } from './usage/usage.ts';
import { createSecretBox } from './webhooks/secret-box.ts';
import { createWebhooks } from './webhooks/webhooks.ts';

/** A running service. */
export type App = Awaited<ReturnType<typeof startApp>>;

/** Time in ms that running requests may take at shutdown. */
export const drainMsMax = 7 * secondMs;
/** Time in ms that running requests and the last flush may take together at shutdown. */
const drainAndFlushMsMax = drainMsMax + lastFlushMs.least;

/** What the parts of the service share. */
interface Basics extends DeliveryOptions {
  readonly counting: OpenCounters;
  readonly sessions: Sessions;
  readonly eventIds: EventIds;
  readonly shares: ConnectionShares;
  readonly instances: Instances;
  readonly logSwitch: LogSwitch;
}

/** Starts the service. If it cannot start, throws OperatorError and closes everything that it opened. */
export async function startApp(config: Config, clock: Clock, log: Log, elapsedMs = () => performance.now()) {
  const parts = new AsyncDisposableStack();
  try {
    return await openApp(config, clock, log, elapsedMs, parts);
  } catch (error) {
    try {
      await parts.disposeAsync();
    } catch (failure) {
      log.error({ err: failure }, 'the start failed, and so did the cleanup');
    }
    if (!isUnavailable(error)) throw error;
    // A store can have damage that only a read of the start finds. To try again does not help.
    const reason = reasonOf(error.cause ?? error);
    throw new OperatorError(`the store failed during the start: ${reason}`, { cause: error });
  }
}

/**
 * Opens the parts of the service in order. Each part registers how it is closed as soon as it is open. They are closed in the
 * reverse order: first the public port, last the store.
 */
async function openApp(
  config: Config,
  clock: Clock,
  log: Log,
  elapsedMs: () => number,
  parts: AsyncDisposableStack,
) {
  const registry = createRegistry();
  exposeDroppedLines(registry, log);
  const watch = createStoreWatch(registry, log, clock);
  const store = await openServedStore(config, clock, log, watch.wrap, parts);
  const { database } = store;
  const basics = await openBasics({ store, config, clock, log, registry, parts });
  const { counting, instances } = basics;
  const clocks = createClockWatch(database, clock, log, elapsedMs);
  const jobs = createJobRunner(log, clocks);
  const vitals = createVitals(registry, clock);
  const { server, ...counts } = buildPublicServer(basics, vitals.observer);

  let isStopping = false;
  let closingAtMs: number | null = null;
  parts.defer(async () => {
    if (closingAtMs === null) return;
    const restMs = closingAtMs + drainAndFlushMsMax - performance.now();
    const isShared = counting.sharing()?.mode === 'shared';
    await flushLast(() => Promise.all([counts.flushAll(), instances.leave()]), restMs, isShared, log);
  });
  parts.defer(jobs.stop);
  await startJobs(basics, jobs, counts);
  const operatorServer = buildOperator(basics, vitals, jobs, watch.listNotes, () => isStopping);
  const stopDelivery = await deliverWebhooks(basics, jobs, clocks);

  // It answers until the public port is closed, and then leaves its running requests no time.
  parts.defer(() => operatorServer.close(0));
  const opsUrl = await operatorServer.listen(config.opsHost, config.opsPort);
  // Running requests and running attempts of webhooks end at the same time.
  parts.defer(async () => {
    await Promise.all([server.close(drainMsMax), stopDelivery()]);
  });
  const url = await server.listen(config.host, config.port);
  // A key is shown only once, so it is created after everything that can fail.
  const firstKey = config.environment === 'development' ? await issueFirstKey(store.keyring) : null;
  return {
    /** The address of the public port, without `/v1`. */
    url,
    opsUrl,
    /** The first key of an empty store, only in development. Show it now, because it cannot be read later. */
    firstKey,
    async drain(cut: Promise<void>): Promise<void> {
      isStopping = true;
      await drainServer(server, config.drainMs, cut);
    },
    /** Accepts no more connections, finishes running requests, and flushes the counts in memory, within 10 s. */
    close(): Promise<void> {
      isStopping = true;
      closingAtMs = performance.now();
      return parts.disposeAsync();
    },
  };
}

async function openBasics(given: Omit<DeliveryOptions, 'secret'>): Promise<Basics> {
  const { store, config, clock, log, parts } = given;
  const { database } = store;
  const secret = await readSecret(database, 'cursor');
  return {
    ...given,
    secret,
    counting: await openCounters(config, database, secret, clock, log, parts),
    sessions: createSessions(database, clock),
    eventIds: createEventIds(secret),
    shares: takeConnections(config, log),
    instances: createInstances(database, clock),
    logSwitch: createLogSwitch(database, log, { level: config.logLevel, requests: config.logRequests }),
  };
}

/** Clients get the descriptors that the service itself does not need. */
function takeConnections({ databaseConnections }: Config, log: Log): ConnectionShares {
  const descriptors = readDescriptorLimit();
  const shares = shareDescriptors(descriptors, databaseConnections);
  const { open: connections } = shares;
  const line = `at most ${connections} connections are open at a time`;
  if (connections === connectionsMax) log.info({ descriptors, connections }, line);
  else log.info({ descriptors, connections }, `${line}: raise the limit of open files (ulimit -n) for more`);
  return shares;
}

/**
 * Serves as before for a time, or until `cut` resolves, while `/readyz` answers 503. In the second half of this time, every
 * response ends its connection, so that clients move to another instance.
 */
async function drainServer(server: HttpService, drainMs: number, cut: Promise<void>): Promise<void> {
  const wait = () => Promise.race([cut, sleep(drainMs / 2, undefined, { ref: false })]);
  await wait();
  server.announceEnd();
  await wait();
}

async function startJobs(
  { store, config, clock, log, registry, counting, sessions, instances, logSwitch }: Basics,
  jobs: JobRunner,
  counts: Pick<JobParts, 'flush' | 'usage' | 'failedRequests' | 'strangers'>,
): Promise<void> {
  const { database } = store;
  const { feed } = store.services;
  const corrections = createCorrectionFollower(database, counting.counters, clock);
  const unread = 'lifted bans and resets of limits could not be read; the service tries again every second';
  // Operators may have changed something while no service ran. A failure does not stop the start.
  await corrections.follow().catch((error) => log.warn(describeFailure(error), unread));
  expose(registry, 'gauge', 'event_waits', 'Number of requests that wait for an event.', feed.countWaiting);
  const noteFeedLag = exposeFeedLag(registry);
  const measureStore = exposeStoreSize(registry, database, config.databaseUrl, store.audit.readLastBackup);
  await measureStore();
  jobs.start({ name: 'measure the store', everyMs: minuteMs, run: measureStore });
  await logSwitch.follow();
  await instances.beat();
  const ofInstance = { sessions, corrections, instances, logSwitch, noteFeedLag };
  for (const job of listJobs({ store, counting, ...counts, ...ofInstance })) jobs.start(job);
}

/** Creates the limiter with its metrics, and logs the keys that it bans. */
function openLimiter({
  counting: { counters, sharing },
  clock,
  log,
  registry,
}: Pick<Basics, 'counting' | 'clock' | 'log' | 'registry'>) {
  const help = '1 while this instance counts requests together with the others, 0 while it counts alone.';
  const isShared = () => sharing()?.mode === 'shared';
  if (sharing() !== null) expose(registry, 'gauge', 'counters_shared', help, isShared);
  const countVerdict = exposeVerdicts(registry);
  return createLimiter({
    counters,
    clock,
    onTake(usage, caller) {
      countVerdict(usage, caller?.plan ?? 'none');
      if (caller === null || !beginsBan(usage)) return;
      const until = new Date(usage.bannedUntilMs).toISOString();
      log.warn({ account: caller.accountName, keyId: caller.keyId, until }, 'a key is banned');
    },
  });
}

function buildPublicServer(
  { store, config, clock, log, registry, secret, counting, eventIds, shares, logSwitch }: Basics,
  observer: RequestObserver,
) {
  const { database, services, version } = store;
  const { publicUrl, trustProxy, corsOrigins } = config;
  const environment = keyEnvironmentOf[config.environment];
  const usage = createUsageCounts(database, clock);
  const failedRequests = createFailedRequests(database, clock);
  const strangers = createStrangers(database, clock);
  const limiter = openLimiter({ counting, clock, log, registry });
  const verifier = createKeyVerifier(database, clock, { environment, findRefusal: limiter.findRefusal });
  const server = buildServer({
    services: {
      ...services,
      keyringOf: ({ keyId: name, accountId }) =>
        createKeyring(database, clock, environment, { kind: 'key', name }, verifier, accountId),
      cursors: createCursors(secret),
      eventIds,
      webhooks: createWebhooks(database, eventIds, createSecretBox(config.webhookSecretKeys)),
      allowsHttp: config.environment === 'development',
      clock,
    },
    version,
    environment: config.environment,
    otherEnvironmentUrl: config.otherEnvironmentUrl,
    webhookSourceNetworks: config.webhookSourceNetworks,
    publicUrl,
    trustProxy,
    corsOrigins,
    readLogRequests: () => logSwitch.read().requests,
    verifier,
    limiter,
    failedRequests: {
      note(request) {
        failedRequests.note(request);
        strangers.note(request);
      },
    },
    log,
    registry,
    observers: [countUsage(usage), observer],
    connectionsMax: shares.open,
  });
  const flush = () =>
    Promise.all([counting.flush(), verifier.flush(), usage.flush(), failedRequests.flush()]);
  const flushAll = () => Promise.all([flush(), strangers.flush()]);
  return { server, flush, flushAll, usage, failedRequests, strangers };
}

function buildOperator(
  { store, config, clock, log, registry, counting, sessions, eventIds, shares, ...basics }: Basics,
  vitals: Vitals,
  jobs: JobRunner,
  listStoreNotes: () => readonly string[],
  isStopping: () => boolean,
): HttpService {
  jobs.start({ name: 'note the traffic', everyMs: noteEveryMs, run: vitals.note });
  const look: LookAtUsage = async (subject) => counting.counters.look(subject, clock());
  const checks = {
    'the service': async () => (isStopping() ? 'is stopping' : null),
    // The check reports the error of a store that does not respond.
    'the store': async () => {
      await store.database.read(selectAnyAccount, { count: 1n });
      return null;
    },
  };
  const readHealth = async () => {
    // First, so that the notes have the faults that the checks find.
    const problems = await findProblems(checks, secondMs);
    const notes = [...describeSharing(counting.sharing()), ...listStoreNotes()];
    return { problems, notes };
  };
  const { environment } = config;
  const { instances, logSwitch } = basics;
  const ofInstance = { sessions, vitals, look, clock, environment, readHealth, instances, logSwitch };
  const { findRole } = store.operators;
  const services = { ...store.aside, ...ofInstance, findRole, eventIds };
  const console = buildConsole(services, config);
  return buildOperatorServer({ readHealth, registry, console, connectionsMax: shares.operator, log });
}

const issueFirstKey = (keyring: Keyring) =>
  keyring.issueFirst('development', { name: 'business', limits: listedLimits.business });
