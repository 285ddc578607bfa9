import { execFile } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Terms } from './entrant.ts';
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

interface Size {
  readonly animals: number;
  readonly importSeconds: number;
  readonly fileMib: number;
  readonly calls: CallTimes;
  readonly measured: readonly Measured[];
}

/** What the same things cost in catalogues of several sizes: calls in the process, ratios over HTTP, start-up. */
export async function measureSizes(
  terms: Terms,
  sizes: readonly number[],
): Promise<{ readonly report: string; readonly areGoalsMet: boolean }> {
  const rows: Size[] = [];
  for (const animals of sizes) {
    process.stderr.write(`${animals.toLocaleString('en')} animals\n`);
    rows.push(await measureSize(terms, animals));
  }
  const verdicts = judge(rows);
  const report = `${formatCalls(rows)}\n${formatRatios(rows)}\n${formatVerdicts(verdicts)}`;
  return { report, areGoalsMet: verdicts.every(({ isMet }) => isMet) };
}

async function measureSize(terms: Terms, animals: number): Promise<Size> {
  const startedMs = performance.now();
  const store = await buildStore(terms.folder, animals);
  const importSeconds = (performance.now() - startedMs) / 1_000;
  try {
    const walk = await walkPages(terms.folder, store);
    const calls = await terms.quiet.measure('calls', () => timeCalls(terms.folder, store));
    const measured: Measured[] = [];
    for (const scenario of scenarios.filter(({ name }) => scenarioNames.includes(name)))
      measured.push(...(await measureScenario(scenario, [bare, service], { ...terms, store, walk })));
    return { animals, importSeconds, fileMib: statSync(store.file).size / 1024 ** 2, calls, measured };
  } finally {
    rmSync(store.file);
  }
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
  const title = `start-up at ${last?.animals.toLocaleString('en')} animals, median`;
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
    sizes.map(({ animals, calls: { first, deep, deepOfStatus, get, add } }) => [
      animals.toLocaleString('en'),
      ...[first, deep, deepOfStatus, get, add].map((us) => us.toFixed(1)),
    ]),
  );
}

function formatRatios(sizes: readonly Size[]): string {
  return formatTable(
    ['animals', ...scenarioNames.map((name) => `${name}, ratio, CPU`), 'start-up ms', 'import s', 'file MiB'],
    sizes.map(({ animals, importSeconds, fileMib, measured }) => {
      const own = measured.filter(({ subject }) => subject === service.name);
      const coldStartsMs = own.map(({ coldStartMs }) => coldStartMs);
      return [
        animals.toLocaleString('en'),
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
