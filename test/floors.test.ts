import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';
import { test } from 'node:test';

const source = join(import.meta.dirname, '../src');

/**
 * The floors of the source, lowest first. A file belongs to the first floor whose pattern matches. It imports from its
 * own folder and from lower floors.
 */
const floors: readonly (readonly [name: string, files: RegExp])[] = [
  [
    'words',
    /^(?:clock|config|errors|etag|exact-json|int64|page|postgres-address|schema|setting-values|soon)\.ts$/,
  ],
  ['plans', /^plans\//],
  ['rules', /^(?:\w+\/rules\/.*|pets\/pet|accounts\/(?:account|api-key))\.ts$/],
  [
    'ports',
    /^(?:storage\/(?:batches|database|delete-old|insert-row|read-page|row-buffer|secret-rows|tables)|limits\/counters)\.ts$/,
  ],
  ['rooms without neighbours', /^(?:audit|idempotency|inventory|usage)\//],
  ['animals, categories and limits', /^(?:pets|categories|limits)\/[^/]+$/],
  ['orders', /^orders\//],
  ['accounts', /^accounts\//],
  ['feed', /^events\//],
  ['webhooks', /^webhooks\//],
  ['engines', /^(?:storage|limits\/memory)\//],
  ['observability', /^observability\//],
  ['jobs and Redis', /^(?:jobs|limits\/redis)\//],
  ['public port', /^http\//],
  ["operator's port", /^operator\//],
  ['wiring of the store', /^store\.ts$/],
  ['wiring of parts', /^(?:open-counters|deliver-webhooks|service-jobs)\.ts$/],
  ['wiring', /^(?:app\.ts$|doctor\/)/],
  ['commands', /^cli\//],
  ['entry', /^(?:main|writing-thread)\.ts$/],
];
const domainFloors = floors.findIndex(([name]) => name === 'feed');

function findFloor(file: string): number {
  return floors.findIndex(([, files]) => files.test(file));
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
  const inner = entries.filter((file) => file.endsWith('.ts') && findFloor(file) < domainFloors);
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
