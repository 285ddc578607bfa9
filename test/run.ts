import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';

/**
 * Files that a processor runs at the same time. Tests wait for disks, servers and timers for about as long as they
 * compute.
 */
const filesPerProcessor = 2;
const fileMsMax = 600_000;

/** The folders whose files take longest come first, so that no long file runs alone at the end. */
const slowFirst = ['instances', 'docs', 'cli', 'browser', 'contracts', 'client'];

function rank(file: string): number {
  const place = slowFirst.indexOf(relative(import.meta.dirname, file).split('/')[0] ?? '');
  return place === -1 ? slowFirst.length : place;
}

/**
 * Folders whose files share processes, in which they run one after the other. This saves the import of the service for each
 * file, which takes longer than most of these tests.
 */
const together = [
  'http/api',
  'http/docs-site',
  'http/openapi',
  'http/request',
  'http/response',
  'client',
  'accounts',
  'cli',
  'contracts',
  'doctor',
  'events',
  'jobs',
  'limits',
  'observability',
  'operator',
  'orders',
  'pets',
  'storage/sqlite',
  'usage',
];

/**
 * Returns the folder of `together` that contains a file. Otherwise the file is a group of its own, as are those of the
 * Python client, which mostly wait for another process.
 */
function findGroup(file: string): string {
  const path = relative(import.meta.dirname, file);
  if (path.startsWith('client/python')) return file;
  return together.find((group) => path.startsWith(`${group}/`)) ?? file;
}

/** Files in one process. With more, one process would still run when all others have ended, or reach `fileMsMax`. */
const filesPerGroupMax = 8;

/** Writes test files that run the files of a group. Each member is a suite, so that its hooks are its own. */
function writeGroup(group: string, members: readonly string[]): Promise<string[]> {
  const parts = Math.ceil(members.length / filesPerGroupMax);
  const deal = (part: number) => members.filter((_, index) => index % parts === part);
  return Promise.all(Array.from({ length: parts }, (_, part) => writePart(`${group}-${part}`, deal(part))));
}

async function writePart(name: string, members: readonly string[]): Promise<string> {
  const [only] = members;
  if (members.length === 1 && only !== undefined) return only;
  const suites = members.map((member) => {
    const name = relative(import.meta.dirname, member);
    return `describe(${JSON.stringify(name)}, () => import(${JSON.stringify(pathToFileURL(member).href)}));`;
  });
  const file = join(folder, `${name.replaceAll('/', '-')}.test.ts`);
  await writeFile(file, ["import { describe } from 'node:test';", ...suites, ''].join('\n'));
  return file;
}

/** Short runs of the torture scenarios keep all processors busy for minutes, so `npm run torture:short` runs them. */
const apart = join(import.meta.dirname, 'torture/short/**');
const patterns = process.argv.slice(2);
const chosen =
  patterns.length === 0
    ? globSync(join(import.meta.dirname, '**/*.test.ts'), { exclude: [apart] })
    : globSync(patterns);
const sorted = chosen.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
const groups = Map.groupBy(sorted, findGroup);
const folder = await mkdtemp(join(tmpdir(), 'animal-store-groups-'));
const files = (await Promise.all([...groups].map(([group, members]) => writeGroup(group, members)))).flat();

// Each file or group runs in its own process, which inherits the id of the run and the folder of compiled modules.
process.env['TEST_RUN'] = randomUUID().replaceAll('-', '');
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../node_modules/.cache/compiled');
const concurrency = filesPerProcessor * availableParallelism();
const tests = run({ files, concurrency, timeout: fileMsMax });
tests.on('test:summary', ({ file, success }) => {
  if (file === undefined && !success) process.exitCode = 1;
});
/** How often a test or a suite could not run, by reason. The summary does not count the tests of a skipped suite. */
const skipped = new Map<string, number>();
tests.on('test:pass', ({ skip }) => {
  if (typeof skip === 'string') skipped.set(skip, (skipped.get(skip) ?? 0) + 1);
});
await pipeline(tests.compose(spec), process.stdout, { end: false });
for (const [reason, count] of skipped)
  process.stdout.write(
    `SKIPPED ${count} ${count === 1 ? 'test or suite' : 'tests or suites'}: ${reason.replace(/^SKIPPED: /, '')}\n`,
  );

const { removeSqliteTemplate } = await import('./support/sqlite-files.ts');
const { dropPostgresDatabases } = await import('./support/postgres-databases.ts');
await rm(folder, { recursive: true });
await removeSqliteTemplate();
// Without a server, there is nothing to drop.
await dropPostgresDatabases().catch(() => undefined);
