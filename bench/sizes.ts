import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Comparison, compare } from './comparison.ts';
import { judgeFlatness, type Verdict } from './goals.ts';
import type { Options } from './options.ts';
import { formatTable, formatVerdicts } from './report.ts';
import { scenarios } from './scenarios.ts';
import { buildStore } from './store.ts';
import { walkPages } from './walk.ts';

const names = ['list-plain', 'list-edits', 'pages-plain', 'get-plain', 'inventory', 'create', 'patch'];
/** Each request of these scenarios needs an animal or a page of its own. */
const namesOfLargeStores = ['list-uncached', 'order'];
const largeStore = 200_000;
const allNames = [...names, ...namesOfLargeStores];
/** The highest cost of all sizes, as a multiple of the lowest. */
const timesMax = { reads: 1.15, writes: 1.25 };
const writes = ['create', 'patch', 'order'];

interface Size {
  readonly animals: number;
  readonly importSeconds: number;
  readonly fileMib: number;
  readonly comparisons: readonly Comparison[];
}

/** Measures the same requests in stores of several sizes, with the bare server's CPU time as the unit. */
export async function measureSizes(
  folder: string,
  options: Options,
): Promise<{ readonly report: string; readonly areGoalsMet: boolean }> {
  const sizes: Size[] = [];
  for (const animals of options.sizes)
    sizes.push(await measureSize(join(folder, String(animals)), animals, options));
  const verdicts = judge(sizes);
  const report = `${formatSizes(sizes)}\n${formatVerdicts(verdicts)}`;
  return { report, areGoalsMet: verdicts.every(({ isMet }) => isMet) };
}

async function measureSize(folder: string, animals: number, { rounds, seconds }: Options): Promise<Size> {
  process.stderr.write(`building a store of ${animals} animals\n`);
  mkdirSync(folder);
  const startedMs = performance.now();
  const store = await buildStore(folder, animals);
  const importSeconds = (performance.now() - startedMs) / 1_000;
  const plan = { folder, store, walk: await walkPages(folder, store), rounds, seconds };
  const comparisons = await compare(
    plan,
    scenarios.filter(({ name }) => (animals < largeStore ? names : allNames).includes(name)),
  );
  return { animals, importSeconds, fileMib: statSync(store.file).size / 1024 ** 2, comparisons };
}

/** The comparison of each scenario in one size, by its name. A small store lacks some. */
function byName({ comparisons }: Size): Map<string, Comparison> {
  return new Map(comparisons.map((comparison) => [comparison.own.scenario.name, comparison]));
}

function judge(sizes: readonly Size[]): Verdict[] {
  return allNames.map((name) => {
    const comparisons = sizes.flatMap((size) => byName(size).get(name) ?? []);
    const ratios = comparisons.map(({ own }) => own.ratio);
    const goal = `${name}: greatest ratio of all sizes, compared with the least`;
    return judgeFlatness(goal, ratios, writes.includes(name) ? timesMax.writes : timesMax.reads);
  });
}

function formatSizes(sizes: readonly Size[]): string {
  return formatTable(
    ['animals', ...allNames, 'start-up ms', 'import s', 'file MiB'],
    sizes.map((size) => [
      size.animals.toLocaleString('en'),
      ...allNames.map((name) => byName(size).get(name)?.own.ratio.toFixed(2) ?? ''),
      Math.max(...size.comparisons.map(({ own }) => own.coldStartMs)).toFixed(0),
      size.importSeconds.toFixed(1),
      size.fileMib.toFixed(0),
    ]),
  );
}
