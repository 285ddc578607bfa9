/** `npm run bench:instances` measures several instances over one PostgreSQL and one Redis (README.md). */
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { makeTemporaryFolder } from './cleanup.ts';
import { sharedRatioMax } from './goals.ts';
import { withDatabase } from './instances/database.ts';
import { type InstanceRow, measureInstances } from './instances/measure.ts';
import { servers } from './options.ts';
import { formatTable } from './report.ts';
import { scenarios } from './scenarios.ts';
import { seedStore } from './store.ts';
import { requireWrk } from './wrk.ts';

const usual = 'list-plain,pages-plain,get-plain,list-uncached,get-uncached,create,create-keyed,patch,order';

const { values } = parseArgs({
  options: {
    postgres: { type: 'string', default: servers.postgres },
    redis: { type: 'string', default: servers.redis },
    instances: { type: 'string', default: '1,2,4' },
    only: { type: 'string', default: usual },
    rounds: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '2' },
    animals: { type: 'string', default: '200000' },
  },
});

function formatRow(row: InstanceRow): string[] {
  return [
    String(row.instances),
    row.title,
    Math.round(row.requestsPerSecond).toLocaleString('en'),
    row.p99Ms.toFixed(0),
    row.serviceUs.toFixed(1),
    row.bareUs.toFixed(1),
    (row.serviceUs / row.bareUs).toFixed(2),
    String(sharedRatioMax[row.name] ?? '-'),
    row.postgresUs.toFixed(1),
    row.redisUs.toFixed(1),
  ];
}

function findScenario(name: string) {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`there is no scenario ${name}`);
  return found;
}

requireWrk();
const chosen = values.only.split(',').map(findScenario);
const server = new URL(values.postgres);
if (server.username === '') server.username = userInfo().username;
const folder = makeTemporaryFolder();
const animals = Number(values.animals);
const redisUrl = values.redis;
await withDatabase(server, async (databaseUrl) => {
  const key = await seedStore({ ENVIRONMENT: 'production', DATABASE_URL: databaseUrl }, animals);
  const site = { folder, databaseUrl, redisUrl, key, animals };
  const load = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
  const rows: InstanceRow[] = [];
  const note = (row: InstanceRow) => {
    rows.push(row);
    process.stderr.write(`${formatRow(row).join(' | ')}\n`);
  };
  const counts = values.instances.split(',').map(Number);
  for (const [place, count] of counts.entries())
    await measureInstances(site, count, chosen, { ...load, start: place / counts.length }, note);
  const parts = ['service µs', 'bare µs', 'ratio', 'goal', 'PostgreSQL µs', 'Redis µs'];
  process.stdout.write(
    formatTable(['instances', 'request', 'req/s', 'p99 ms', ...parts], rows.map(formatRow)),
  );
});
process.exit();
