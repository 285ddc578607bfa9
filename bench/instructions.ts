import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { enter, type Plan, recordService, type Terms } from './entrant.ts';
import { exchange } from './exchange.ts';
import { judgeFlatness, type Verdict } from './goals.ts';
import type { RunningServer } from './processes.ts';
import { formatTable, formatVerdicts } from './report.ts';
import { type Scenario, scenarios } from './scenarios.ts';
import { buildStore } from './store.ts';
import { bare, type Subject, service } from './subjects.ts';
import { walkPages } from './walk.ts';
import type { Load } from './wrk.ts';

const run = promisify(execFile);
const measured = scenarios.filter(({ name }) =>
  ['list-hot', 'list-pages', 'get', 'create', 'mix'].includes(name),
);
/** As for the CPU of a request (sizes.ts). */
const timesMax = 1.15;
/** Until V8 has compiled what runs often, and all that is asked for while it counts is kept ready. */
const warmUpRequests = 30_000;
const countedRequests = 5_000;

/** Throws, and says how to get it, where the counter is missing. */
export function requireValgrind(): void {
  if (spawnSync('valgrind', ['--version']).error === undefined) return;
  throw new Error(
    'valgrind is missing; install it with "apt-get install valgrind" or "dnf install valgrind"',
  );
}

/** What a request costs in a catalogue of so many animals, scenario by scenario. */
interface Size {
  readonly animals: number;
  readonly counts: readonly number[];
}

/**
 * How many instructions of the program the serving thread runs for a request, in catalogues of several sizes: what other
 * work on the machine hardly changes. The system's own are not among them, nor are waits.
 */
export async function measureInstructions(
  terms: Terms,
  animalCounts: readonly number[],
): Promise<{ readonly report: string; readonly areGoalsMet: boolean }> {
  const limits = new Map<Scenario, number>();
  const sizes: Size[] = [];
  for (const animals of animalCounts) sizes.push({ animals, counts: await countAll(terms, animals, limits) });
  const verdicts = sizes.length > 1 ? judge(sizes) : [];
  const report = `${formatCounts([...limits.values()], sizes)}\n${formatVerdicts(verdicts)}`;
  return { report, areGoalsMet: verdicts.every(({ isMet }) => isMet) };
}

/** What each scenario costs the service; what it costs the bare server goes into `limits`, where it is not yet. */
async function countAll(terms: Terms, animals: number, limits: Map<Scenario, number>): Promise<number[]> {
  const store = await buildStore(terms.folder, animals);
  try {
    const plan: Plan = { ...terms, store, walk: await walkPages(terms.folder, store) };
    const counts: number[] = [];
    for (const scenario of measured) {
      process.stderr.write(`${animals.toLocaleString('en')} animals, ${scenario.title}\n`);
      const recordedFile = await recordService(scenario, plan);
      // What the bare server sends does not depend on how many animals there are.
      if (!limits.has(scenario)) limits.set(scenario, await count(bare, scenario, recordedFile, plan));
      counts.push(await count(service, scenario, recordedFile, plan));
    }
    return counts;
  } finally {
    rmSync(store.file);
  }
}

function judge(sizes: readonly Size[]): Verdict[] {
  return measured.map(({ title }, index) =>
    judgeFlatness(
      `${title}: instructions per request, over all sizes`,
      sizes.map(({ counts }) => counts[index] ?? Number.NaN),
      timesMax,
    ),
  );
}

function formatCounts(limits: readonly number[], sizes: readonly Size[]): string {
  const format = (count: number) => (count / 1_000).toFixed(1);
  return formatTable(
    ['thousand instructions per request', ...measured.map(({ name }) => name)],
    [
      ['bare node:http', ...limits.map(format)],
      ...sizes.map(({ animals, counts }) => [
        `service, ${animals.toLocaleString('en')} animals`,
        ...counts.map(format),
      ]),
    ],
  );
}

/** Starts a subject under valgrind, warms it up, and counts. */
async function count(
  subject: Subject,
  scenario: Scenario,
  recordedFile: string,
  plan: Plan,
): Promise<number> {
  const dump = join(plan.folder, 'instructions');
  // What controls the counter tells no failure of its own: the number of another count must not be read in its place.
  rmSync(`${dump}.1-01`, { force: true });
  const counted: Subject = {
    ...subject,
    build: (port, ground) => {
      const { file, args, ...command } = subject.build(port, ground);
      const options = ['--tool=callgrind', '--instr-atstart=no', '--separate-threads=yes'];
      return {
        ...command,
        file: 'valgrind',
        args: [...options, `--callgrind-out-file=${dump}`, file, ...args],
      };
    },
  };
  const { server, load } = await enter(counted, scenario, recordedFile, plan);
  try {
    await send(server, load, warmUpRequests);
    await control(server, '--instr=on');
    await control(server, '--zero');
    await send(server, load, countedRequests);
    await control(server, '--dump');
    return readTotal(`${dump}.1-01`) / countedRequests;
  } finally {
    await server.stop();
  }
}

/** Sends so many requests over the scenario's connections, each of which waits for its answer. */
async function send(
  server: RunningServer,
  { requests, headers, connections }: Load,
  all: number,
): Promise<void> {
  let sent = 0;
  async function sendOneByOne(): Promise<void> {
    while (sent < all) {
      const request = requests[sent % requests.length];
      sent += 1;
      if (request !== undefined) await exchange(server.origin, request, headers);
    }
  }
  await Promise.all(Array.from({ length: connections }, sendOneByOne));
}

function control({ pid }: RunningServer, command: string): Promise<unknown> {
  return run('callgrind_control', [command, String(pid)]);
}

/** What a dump says in all, of the one thread that it is of. */
function readTotal(file: string): number {
  const [, total] = /^totals: (\d+)$/m.exec(readFileSync(file, 'utf8')) ?? [];
  if (!Number(total)) throw new Error(`${file} tells of no instructions`);
  return Number(total);
}
