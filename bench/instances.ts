/** `npm run bench:instances`: 1, 2 and 4 instances over one PostgreSQL and one Redis; README.md says how. */
import { randomUUID } from 'node:crypto';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { makeTemporaryFolder } from './cleanup.ts';
import { type RunningServer, startServer } from './processes.ts';
import { formatTable } from './report.ts';
import { creation, type Scenario, scenarios } from './scenarios.ts';
import { readServerTimes } from './server-time.ts';
import { medianOf } from './statistics.ts';
import { seedStore, serviceEntry } from './store.ts';
import { onNode } from './subjects.ts';
import { requireWrk, sendByWrk, writeRequests } from './wrk.ts';

const connections = 64;

interface Measure extends Pick<Scenario, 'title'> {
  readonly requests: Scenario['requests'];
  readonly isKeyed?: boolean;
}

const measures: readonly Measure[] = [
  ...scenarios.filter(({ name }) => ['list-plain', 'get-plain', 'create'].includes(name)),
  { title: 'create with an Idempotency-Key', requests: () => [creation], isKeyed: true },
];

/** What one round has shown; times in microseconds a request. */
interface Round {
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  readonly serviceUs: number;
  readonly postgresUs: number;
  readonly redisUs: number;
}

interface World {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly key: string;
  readonly animals: number;
}

async function measureInstances(world: World, count: number, rounds: number, seconds: number) {
  const servers: RunningServer[] = [];
  try {
    for (let place = 0; place < count; place += 1) servers.push(await startInstance(world, place));
    const rows: string[][] = [];
    for (const measure of measures) {
      await runRound(world, servers, measure, 1);
      const seen: Round[] = [];
      for (let round = 0; round < rounds; round += 1)
        seen.push(await runRound(world, servers, measure, seconds));
      rows.push([String(count), measure.title, ...summarise(seen)]);
    }
    return rows;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function startInstance({ folder, databaseUrl, redisUrl, key }: World, place: number): Promise<RunningServer> {
  const settings = { ENVIRONMENT: 'production', DATABASE_URL: databaseUrl, REDIS_URL: redisUrl };
  return startServer(
    (port) => ({
      ...onNode([serviceEntry, 'serve']),
      environment: { ...settings, PORT: String(port), OPS_PORT: '0' },
    }),
    { method: 'GET', path: '/v1/pets' },
    { authorization: `Bearer ${key}` },
    join(folder, `instance-${place}.log`),
  );
}

async function runRound(
  world: World,
  servers: readonly RunningServer[],
  { requests, isKeyed = false }: Measure,
  seconds: number,
): Promise<Round> {
  const { folder, databaseUrl, redisUrl, key, animals } = world;
  const file = join(folder, 'instances.requests');
  writeRequests(file, requests({ pages: [], manyPages: [], animals }));
  const headers = { authorization: `Bearer ${key}` };
  const share = { requests: [], headers, connections: connections / servers.length };
  const readServiceMs = () => servers.reduce((sum, server) => sum + server.readCpuMs(), 0);

  const [before, serviceBeforeMs] = [await readServerTimes(databaseUrl, redisUrl), readServiceMs()];
  const seen = await Promise.all(
    servers.map(({ origin }) => {
      const load = isKeyed ? { ...share, keyPrefix: `${randomUUID()}-` } : share;
      return sendByWrk(origin, load, file, seconds);
    }),
  );
  const serviceMs = readServiceMs() - serviceBeforeMs;
  const after = await readServerTimes(databaseUrl, redisUrl);
  const answered = seen.reduce((sum, one) => sum + one.requests, 0);
  const toUs = (ms: number) => (ms * 1_000) / answered;
  return {
    requestsPerSecond: seen.reduce((sum, one) => sum + one.requestsPerSecond, 0),
    p99Ms: Math.max(...seen.map(({ p99Ms }) => p99Ms)),
    serviceUs: toUs(serviceMs),
    postgresUs: toUs(after.postgresMs - before.postgresMs),
    redisUs: toUs(after.redisMs - before.redisMs),
  };
}

/** The medians of the rounds as cells; the last is the share of PostgreSQL and Redis in the time of all three. */
function summarise(rounds: readonly Round[]): string[] {
  const median = (pick: (round: Round) => number) => medianOf(rounds.map(pick));
  const service = median(({ serviceUs }) => serviceUs);
  const postgres = median(({ postgresUs }) => postgresUs);
  const redis = median(({ redisUs }) => redisUs);
  const share = (postgres + redis) / (service + postgres + redis);
  return [
    Math.round(median(({ requestsPerSecond }) => requestsPerSecond)).toLocaleString('en'),
    median(({ p99Ms }) => p99Ms).toFixed(0),
    ...[service, postgres, redis].map((us) => us.toFixed(0)),
    `${Math.round(share * 100)} %`,
  ];
}

/** Runs a task on a database of its own on a server, which is dropped afterwards. */
async function withDatabase(server: URL, task: (databaseUrl: string) => Promise<void>): Promise<void> {
  const name = `animal_store_bench_${randomUUID().replaceAll('-', '')}`;
  await execute(server.href, `create database ${name} template template0 encoding 'UTF8'`);
  const address = new URL(server);
  address.pathname = `/${name}`;
  try {
    await task(address.href);
  } finally {
    await execute(server.href, `drop database ${name} with (force)`);
  }
}

async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

const { values } = parseArgs({
  options: {
    postgres: { type: 'string', default: 'postgres://127.0.0.1:5432/postgres' },
    redis: { type: 'string', default: 'redis://127.0.0.1:6379' },
    rounds: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '3' },
    animals: { type: 'string', default: '100000' },
  },
});
requireWrk();
const server = new URL(values.postgres);
if (server.username === '') server.username = userInfo().username;
const folder = makeTemporaryFolder();
const animals = Number(values.animals);
await withDatabase(server, async (databaseUrl) => {
  const redisUrl = values.redis;
  const key = await seedStore({ ENVIRONMENT: 'production', DATABASE_URL: databaseUrl }, animals);
  const world = { folder, databaseUrl, redisUrl, key, animals };
  const rows: string[][] = [];
  for (const count of [1, 2, 4])
    rows.push(...(await measureInstances(world, count, Number(values.rounds), Number(values.seconds))));
  const times = ['service µs', 'PostgreSQL µs', 'Redis µs', 'share of PostgreSQL and Redis'];
  process.stdout.write(formatTable(['instances', 'request', 'req/s', 'p99 ms', ...times], rows));
});
process.exit();
