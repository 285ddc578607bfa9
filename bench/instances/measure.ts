import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Request } from '../exchange.ts';
import { type RunningServer, startServer } from '../processes.ts';
import { record } from '../recording.ts';
import { hotPage, type Scenario, type Walk } from '../scenarios.ts';
import { medianOf } from '../statistics.ts';
import { serviceEntry } from '../store.ts';
import { bareServerFile, onNode } from '../subjects.ts';
import { walkService } from '../walk.ts';
import { sendByWrk, writeRequests } from '../wrk.ts';
import { vacuum } from './database.ts';
import { openServerTimes, postgresMsBetween, type ServerTimes } from './server-time.ts';

/** The stores and the folder of the instances, and the key for requests. */
export interface Site {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly key: string;
  readonly animals: number;
}

/** The result of a scenario. CPU times are in microseconds per request, from the cheapest round. */
export interface InstanceRow {
  readonly instances: number;
  readonly name: string;
  readonly title: string;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  readonly serviceUs: number;
  readonly bareUs: number;
  readonly postgresUs: number;
  readonly redisUs: number;
}

export interface Load {
  readonly rounds: number;
  readonly seconds: number;
  /** The first request of each scenario, as a share of the list, because an animal can be ordered only once. */
  readonly start: number;
}

type Round = Omit<InstanceRow, 'instances' | 'name' | 'title' | 'bareUs'>;

const connections = 64;
/** The bound is lower than over SQLite, because each page takes a round trip to PostgreSQL. */
const pagesWalkedMax = 2_000;
/** The warm-up lets V8 compile the hot code, and fills the response cache. */
const warmUpRequests = 20_000;
const warmUpRoundsMax = 6;

/** Measures scenarios on `count` instances and on a bare server, which sends the answers of the first instance. */
export async function measureInstances(
  site: Site,
  count: number,
  scenarios: readonly Scenario[],
  load: Load,
  note: (row: InstanceRow) => void,
): Promise<void> {
  const servers: RunningServer[] = [];
  const times = await openServerTimes(site.databaseUrl, site.redisUrl);
  try {
    for (let place = 0; place < count; place += 1) servers.push(await startInstance(site, place));
    const walk = await walkService(servers[0]?.origin ?? '', authorize(site), site.animals, pagesWalkedMax);
    for (const scenario of scenarios) {
      await vacuum(site.databaseUrl);
      const measured = await measureScenario(site, servers, scenario, walk, times, load);
      note({ instances: count, name: scenario.name, title: scenario.title, ...measured });
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await times.close();
  }
}

function authorize({ key }: Site) {
  return { authorization: `Bearer ${key}` };
}

function startInstance(site: Site, place: number): Promise<RunningServer> {
  const { folder, databaseUrl, redisUrl } = site;
  const settings = { ENVIRONMENT: 'production', DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  return startServer(
    (port) => ({
      ...onNode([...process.execArgv, serviceEntry, 'serve']),
      environment: { ...settings, PORT: String(port), OPS_PORT: '0' },
    }),
    hotPage,
    authorize(site),
    join(folder, `instance-${place}.log`),
  );
}

async function measureScenario(
  site: Site,
  servers: readonly RunningServer[],
  scenario: Scenario,
  walk: Walk,
  times: ServerTimes,
  { rounds, seconds, start }: Load,
): Promise<Omit<InstanceRow, 'instances' | 'name' | 'title'>> {
  const all = scenario.requests(walk);
  const first = Math.floor(all.length * start);
  const requests = [...all.slice(first), ...all.slice(0, first)];
  const bare = await startBare(site, servers[0]?.origin ?? '', requests);
  try {
    const service = createRounds(site, servers, scenario, requests, times);
    const beside = createRounds(site, [bare], scenario, requests, times);
    for (const run of [beside, service]) await warmUp(run);
    const seen: Round[] = [];
    const seenBare: Round[] = [];
    for (let round = 0; round < rounds; round += 1) {
      seenBare.push(await beside(seconds));
      seen.push(await service(seconds));
    }
    return { ...summarise(seen), bareUs: Math.min(...seenBare.map(({ serviceUs }) => serviceUs)) };
  } finally {
    await bare.stop();
  }
}

async function startBare(site: Site, origin: string, requests: readonly Request[]): Promise<RunningServer> {
  const recordedFile = join(site.folder, 'recorded.json');
  await record(recordedFile, origin, [...requests.slice(0, 1), hotPage], authorize(site));
  return startServer(
    (port) => onNode([bareServerFile, String(port), recordedFile]),
    hotPage,
    authorize(site),
    join(site.folder, 'bare.log'),
  );
}

/**
 * Creates a function that loads all servers at the same time. Each server gets its own share of the requests, and each
 * load continues after the previous one, because some requests succeed only once.
 */
function createRounds(
  site: Site,
  servers: readonly RunningServer[],
  { name, isKeyed = false }: Scenario,
  requests: readonly Request[],
  times: ServerTimes,
): (seconds: number) => Promise<Round & { readonly answered: number }> {
  const file = join(site.folder, `${name}-${randomUUID()}.requests`);
  writeRequests(file, requests);
  const share = connections / servers.length;
  const places = servers.map(({ origin }, index) => ({
    origin,
    // The recording has already sent the first request.
    skipped: 1 + Math.floor((index * requests.length) / servers.length),
  }));
  const send = async (place: { origin: string; skipped: number }, seconds: number) => {
    const { origin, skipped } = place;
    const base = { requests: [], headers: authorize(site), connections: share, skipped };
    const load = isKeyed ? { ...base, keyPrefix: `${randomUUID()}-` } : base;
    const seen = await sendByWrk(origin, load, file, seconds);
    place.skipped += seen.requests + connections;
    return seen;
  };
  const readAll = async () => ({
    ...(await times.read()),
    serviceMs: servers.reduce((sum, server) => sum + server.readCpuMs(), 0),
  });

  return async (seconds) => {
    const before = await readAll();
    const seen = await Promise.all(places.map((place) => send(place, seconds)));
    const after = await readAll();
    const answered = seen.reduce((sum, one) => sum + one.requests, 0);
    const perRequest = (ms: number) => (ms * 1_000) / answered;
    return {
      answered,
      requestsPerSecond: seen.reduce((sum, one) => sum + one.requestsPerSecond, 0),
      p99Ms: Math.max(...seen.map(({ p99Ms }) => p99Ms)),
      serviceUs: perRequest(after.serviceMs - before.serviceMs),
      postgresUs: perRequest(postgresMsBetween(before, after)),
      redisUs: perRequest(after.redisMs - before.redisMs),
    };
  };
}

async function warmUp(run: (seconds: number) => Promise<{ readonly answered: number }>): Promise<void> {
  let answered = 0;
  for (let round = 0; round < warmUpRoundsMax && answered < warmUpRequests; round += 1)
    answered += (await run(1)).answered;
}

function summarise(rounds: readonly Round[]): Round {
  const least = (pick: (round: Round) => number) => Math.min(...rounds.map(pick));
  const median = (pick: (round: Round) => number) => medianOf(rounds.map(pick));
  return {
    requestsPerSecond: median(({ requestsPerSecond }) => requestsPerSecond),
    p99Ms: median(({ p99Ms }) => p99Ms),
    serviceUs: least(({ serviceUs }) => serviceUs),
    postgresUs: least(({ postgresUs }) => postgresUs),
    redisUs: least(({ redisUs }) => redisUs),
  };
}
