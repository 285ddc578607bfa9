import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Comparison, compare } from './comparison.ts';
import { judgeFlatness, type Verdict } from './goals.ts';
import type { Options } from './options.ts';
import { formatTable, formatVerdicts } from './report.ts';
import { scenarios } from './scenarios.ts';
import { buildStore } from './store.ts';
import { walkPages } from './walk.ts';

const names = [
  'list-plain',
  'pages-plain',
  'get-plain',
  'list-uncached',
  'inventory',
  'create',
  'patch',
  'order',
];
const timesMax = 1.15;

interface Size {
  readonly animals: number;
  readonly importSeconds: number;
  readonly fileMib: number;
  readonly comparisons: readonly Comparison[];
}

/** Measures the cost of the same requests in catalogues of several sizes, as a multiple of the bare server's CPU. */
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
    scenarios.filter(({ name }) => names.includes(name)),
  );
  return { animals, importSeconds, fileMib: statSync(store.file).size / 1024 ** 2, comparisons };
}

function judge(sizes: readonly Size[]): Verdict[] {
  const [first] = sizes;
  return (first?.comparisons ?? []).map(({ own: { scenario } }, index) =>
    judgeFlatness(
      `${scenario.title}: ratio over all sizes`,
      sizes.map(({ comparisons }) => comparisons[index]?.own.ratio ?? Number.NaN),
      timesMax,
    ),
  );
}

function formatSizes(sizes: readonly Size[]): string {
  const [first] = sizes;
  const titles = first?.comparisons.map(({ own }) => own.scenario.name) ?? [];
  return formatTable(
    ['animals', ...titles, 'start-up ms', 'import s', 'file MiB'],
    sizes.map(({ animals, importSeconds, fileMib, comparisons }) => [
      animals.toLocaleString('en'),
      ...comparisons.map(({ own }) => own.ratio.toFixed(2)),
      Math.max(...comparisons.map(({ own }) => own.coldStartMs)).toFixed(0),
      importSeconds.toFixed(1),
      fileMib.toFixed(0),
    ]),
  );
}
