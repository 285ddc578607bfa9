import { execFile } from 'node:child_process';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Site, Terms } from './entrant.ts';
import { judgeBelow, judgeFlatness, type Verdict } from './goals.ts';
import { onCore, serverCore } from './machine.ts';
import { formatSpread, formatTable, formatVerdicts } from './report.ts';
import { type Measured, measureScenario } from './rounds.ts';
import { scenarios } from './scenarios.ts';
import { compareRounds, spreadOf } from './statistics.ts';
import { buildStore, copyStore, type SeededStore } from './store.ts';
import { bare, service } from './subjects.ts';
import { walkPages } from './walk.ts';

const run = promisify(execFile);
const callsScript = join(import.meta.dirname, 'servers', 'calls.ts');
const callsMsMax = 120_000;
/** The pages of `list-pages` are spread evenly over the whole catalogue, so nearly all are deep. */
const judgedNames = ['list-hot', 'list-pages', 'get', 'create'];
const scenarioNames = ['list-hot', 'list-pages', 'get', 'get-any', 'create'];
const timesMax = 1.15;
const startMsBelow = 1_000;

/** Microseconds of each call, by its name. */
type CallTimes = Readonly<Record<'first' | 'deep' | 'deepOfStatus' | 'get' | 'add', number>>;

/** A store of one size. */
interface SizedSite extends Site {
  readonly importSeconds: number;
  readonly fileMib: number;
  readonly calls: CallTimes;
}

interface Size extends SizedSite {
  readonly measured: readonly Measured[];
}

/**
 * What the same things cost in catalogues of several sizes: calls in the process, ratios over HTTP, start-up. Over HTTP the
 * sizes are measured in the same rounds, so that what else goes on upon the machine is in all of them.
 */
export async function measureSizes(
  terms: Terms,
  sizes: readonly number[],
): Promise<{ readonly report: string; readonly areGoalsMet: boolean }> {
  const sites: SizedSite[] = [];
  for (const animals of sizes) sites.push(await prepareSizedSite(terms, animals));
  const measured: Measured[][] = sites.map(() => []);
  for (const scenario of scenarios.filter(({ name }) => scenarioNames.includes(name))) {
    process.stderr.write(`${scenario.title}\n`);
    const found = await measureScenario(scenario, [bare, service], terms, sites);
    for (const [index, onSite] of found.entries()) measured[index]?.push(...onSite);
  }
  const rows = sites.map((site, index) => ({ ...site, measured: measured[index] ?? [] }));
  const verdicts = judge(rows);
  const report = `${formatCalls(rows)}\n${formatRatios(rows)}\n${formatVerdicts(verdicts)}`;
  return { report, areGoalsMet: verdicts.every(({ isMet }) => isMet) };
}

async function prepareSizedSite(terms: Terms, animals: number): Promise<SizedSite> {
  process.stderr.write(`building a store of ${animals} animals\n`);
  const folder = join(terms.folder, String(animals));
  mkdirSync(folder);
  const startedMs = performance.now();
  const store = await buildStore(folder, animals);
  const importSeconds = (performance.now() - startedMs) / 1_000;
  const walk = await walkPages(folder, store);
  const calls = await terms.quiet.measure('calls', () => timeCalls(folder, store));
  return { folder, store, walk, importSeconds, fileMib: statSync(store.file).size / 1024 ** 2, calls };
}

async function timeCalls(folder: string, store: SeededStore): Promise<CallTimes> {
  const copy = copyStore(store, folder, 'calls');
  const [file = '', ...args] = onCore(serverCore, [
    process.execPath,
    callsScript,
    copy,
    String(store.animals),
  ]);
  const { stdout } = await run(file, args, { timeout: callsMsMax });
  return JSON.parse(stdout) as CallTimes;
}

/**
 * Flat is what a request costs, so that is what is judged: the CPU of the service for one over that of the bare server in
 * the same rounds. The calls in the process show what of it grows.
 */
function judge(sizes: readonly Size[]): Verdict[] {
  const flat = judgedNames.map((name) =>
    judgeFlatness(
      `${titleOf(name)}: CPU per request, over all sizes`,
      sizes.map(({ measured }) => costOf(name, measured)),
      timesMax,
    ),
  );
  const last = sizes.at(-1);
  const startsMs = last?.measured.filter(({ subject }) => subject === service.name) ?? [];
  const startMs = spreadOf(startsMs.map(({ coldStartMs }) => coldStartMs)).median;
  const title = `start-up at ${last?.store.animals.toLocaleString('en')} animals, median`;
  return [...flat, judgeBelow(title, startMs, startMsBelow, 'ms')];
}

function titleOf(name: string): string {
  return scenarios.find((scenario) => scenario.name === name)?.title ?? name;
}

/** The median over the rounds; not a number where the system does not tell the CPU of a process: then nothing is flat. */
function costOf(name: string, measured: readonly Measured[]): number {
  const cpuUs = (of: string) =>
    measured
      .find(({ scenario, subject }) => scenario.name === name && subject === of)
      ?.cpuUsOfRounds.map((cost) => cost ?? Number.NaN) ?? [];
  return compareRounds(cpuUs(service.name), cpuUs(bare.name)).median;
}

function formatCalls(sizes: readonly Size[]): string {
  return formatTable(
    ['animals', 'list first, µs', 'list deep', 'list deep of a status', 'get', 'add, 64 at once'],
    sizes.map(({ store, calls: { first, deep, deepOfStatus, get, add } }) => [
      store.animals.toLocaleString('en'),
      ...[first, deep, deepOfStatus, get, add].map((us) => us.toFixed(1)),
    ]),
  );
}

function formatRatios(sizes: readonly Size[]): string {
  return formatTable(
    ['animals', ...scenarioNames.map((name) => `${name}, ratio, CPU`), 'start-up ms', 'import s', 'file MiB'],
    sizes.map(({ store, importSeconds, fileMib, measured }) => {
      const own = measured.filter(({ subject }) => subject === service.name);
      const coldStartsMs = own.map(({ coldStartMs }) => coldStartMs);
      return [
        store.animals.toLocaleString('en'),
        ...own.map(
          ({ scenario, ratio }) => `${formatSpread(ratio)}, ${costOf(scenario.name, measured).toFixed(2)}`,
        ),
        spreadOf(coldStartsMs).median.toFixed(0),
        importSeconds.toFixed(1),
        fileMib.toFixed(0),
      ];
    }),
  );
}
