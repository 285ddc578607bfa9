import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';
import { test } from 'node:test';

const source = join(import.meta.dirname, '../src');

/**
 * The layers ("floors") of the source, lowest first, by pattern. A file belongs to the first layer whose pattern matches.
 * A folder for a new noun belongs to the operations, and its `rules` are pure.
 */
const floors: readonly (readonly [height: number, name: string, files: RegExp])[] = [
  [0, 'words', /^(?:clock|config|errors|etag|exact-json|int64|open-parts|schema|setting-values|soon)\.ts$/],
  [1, 'plans', /^plans\/plan\.ts$/],
  [2, 'rules', /^(?:\w+\/rules\/.*|pets\/pet|accounts\/(?:account|api-key))\.ts$/],
  [3, 'ports', /^(?:storage\/(?:database|tables|constraint)|limits\/counters)\.ts$/],
  [6, 'engines', /^(?:storage\/(?!(?:secret|lock)-rows)|limits\/(?:memory|redis)\/)/],
  [5, 'observability', /^observability\//],
  [6, 'jobs', /^jobs\//],
  [6, 'http', /^http\//],
  [7, 'operator', /^operator\//],
  [8, 'wiring of the store', /^store\.ts$/],
  [3.5, 'first answers and the audit log', /^(?:idempotency|audit)\//],
  [4.5, 'operations on animals', /^(?:orders|inventory)\//],
  [4.7, 'feed', /^events\//],
  [4.6, 'accounts', /^accounts\//],
  [4.8, 'webhooks', /^webhooks\//],
  [8.5, 'wiring of parts', /^(?:deliver-webhooks|open-counters|service-jobs)\.ts$/],
  [9, 'wiring', /^(?:app\.ts$|doctor\/)/],
  [10, 'commands', /^cli\//],
  [11, 'entry', /^main\.ts$/],
  [4, 'operations', /^[a-z]+\/[a-z0-9-]+\.ts$/],
];
const operations = 4;

function findFloor(file: string): number {
  return floors.find(([, , files]) => files.test(file))?.[0] ?? -1;
}

function topFolder(file: string): string {
  return file.split('/', 1)[0] ?? '';
}

async function listImports(): Promise<{ from: string; to: string }[]> {
  const entries = await readdir(source, { recursive: true });
  const files = entries.filter((file) => file.endsWith('.ts'));
  const imports = files.map(async (from) => {
    const text = await readFile(join(source, from), 'utf8');
    const targets = [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, target = '']) => target);
    return targets.map((target) => ({
      from,
      to: relative(source, normalize(join(source, dirname(from), target))),
    }));
  });
  return (await Promise.all(imports)).flat();
}

test('every source file belongs to a layer', async () => {
  const entries = await readdir(source, { recursive: true });
  const homeless = entries.filter((file) => file.endsWith('.ts') && findFloor(file) < 0);
  assert.deepEqual(homeless, []);
});

test('a file imports only from its own folder or from lower layers', async () => {
  const imports = await listImports();
  assert.ok(imports.length > 100);
  const breaches = imports.filter(({ from, to }) => {
    const isOwnFolder = topFolder(from) === topFolder(to);
    const areWords = findFloor(from) === 0 && findFloor(to) === 0;
    return !isOwnFolder && !areWords && findFloor(to) >= findFloor(from);
  });
  assert.deepEqual(breaches, []);
});

test('the domain layers import neither HTTP modules nor a database driver', async () => {
  const entries = await readdir(source, { recursive: true });
  const inner = entries.filter((file) => file.endsWith('.ts') && findFloor(file) <= operations);
  for (const file of inner) {
    const text = await readFile(join(source, file), 'utf8');
    assert.doesNotMatch(text, /from '(?:find-my-way|pg|node:sqlite|node:http|@redis|redis)/, file);
  }
});

test('only the entry file reads environment variables', async () => {
  const entries = await readdir(source, { recursive: true });
  for (const file of entries.filter((name) => name.endsWith('.ts') && name !== 'main.ts')) {
    const text = await readFile(join(source, file), 'utf8');
    assert.doesNotMatch(text, /process\.env/, file);
  }
});
