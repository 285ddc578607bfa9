/** `npm run bench:profile -- SCENARIO` shows the CPU time of a scenario as a table of functions by self time. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { makeTemporaryFolder } from './cleanup.ts';
import { type CpuProfile, sumSelfTimes } from './profile-rows.ts';
import { formatTable } from './report.ts';
import { enterService } from './rounds.ts';
import { scenarios } from './scenarios.ts';
import { buildStore } from './store.ts';
import { walkPages } from './walk.ts';
import { requireWrk } from './wrk.ts';

const warmUpSeconds = 3;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '5' },
    rows: { type: 'string', default: '40' },
    animals: { type: 'string', default: '100000' },
  },
});

async function profile(): Promise<string> {
  const scenario = scenarios.find(({ name }) => name === positionals[0]);
  if (scenario === undefined)
    throw new Error(`name one of these scenarios: ${scenarios.map(({ name }) => name).join(', ')}`);
  const folder = makeTemporaryFolder();
  const profiles = join(folder, 'profiles');
  mkdirSync(profiles);
  const seconds = Number(values.seconds);
  const store = await buildStore(folder, Number(values.animals));
  const plan = { folder, store, walk: await walkPages(folder, store), rounds: 1, seconds };
  const flags = ['--cpu-prof', '--cpu-prof-dir', profiles, '--cpu-prof-interval', '250'];
  const { entrant } = await enterService(scenario, plan, flags);
  let requests = 0;
  try {
    await entrant.run(warmUpSeconds);
    requests = (await entrant.run(seconds)).requests;
  } finally {
    await entrant.server.stop();
  }
  const files = readdirSync(profiles).filter((file) => file.endsWith('.cpuprofile'));
  if (files.length === 0) throw new Error('the service wrote no profile');
  const read = files.map((file) => JSON.parse(readFileSync(join(profiles, file), 'utf8')) as CpuProfile);
  return format(sumSelfTimes(read, seconds), requests);
}

function format(selfUs: ReadonlyMap<string, number>, requests: number): string {
  const all = [...selfUs.values()].reduce((sum, us) => sum + us, 0);
  const rows = [...selfUs].toSorted(([, a], [, b]) => b - a).slice(0, Number(values.rows));
  return formatTable(
    ['self µs a request', 'share', 'function'],
    rows.map(([place, us]) => [
      (us / requests).toFixed(2),
      `${((us / all) * 100).toFixed(1)} %`,
      place.replaceAll('|', '\\|'),
    ]),
  );
}

try {
  requireWrk();
  process.stdout.write(await profile());
  process.exit();
} catch (error) {
  process.stderr.write(`profile: ${error instanceof Error ? error.message : error}\n`);
  process.exit(1);
}
