import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

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

/** Short runs of the torture scenarios keep all processors busy for minutes, so `npm run torture:short` runs them. */
const apart = join(import.meta.dirname, 'torture/short/**');
const [pattern] = process.argv.slice(2);
const chosen =
  pattern === undefined
    ? globSync(join(import.meta.dirname, '**/*.test.ts'), { exclude: [apart] })
    : globSync(pattern);
const files = chosen.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));

// Each file runs in its own process, which inherits the id of the run and the folder of compiled modules.
process.env['TEST_RUN'] = randomUUID().replaceAll('-', '');
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '../node_modules/.cache/compiled');
const concurrency = filesPerProcessor * availableParallelism();
const tests = run({ files, concurrency, timeout: fileMsMax });
tests.on('test:summary', ({ file, success }) => {
  if (file === undefined && !success) process.exitCode = 1;
});
await pipeline(tests.compose(spec), process.stdout, { end: false });

const { removeSqliteTemplate } = await import('./support/sqlite-files.ts');
const { dropPostgresDatabases } = await import('./support/postgres-databases.ts');
await removeSqliteTemplate();
// Without a server, there is nothing to drop.
await dropPostgresDatabases().catch(() => undefined);
