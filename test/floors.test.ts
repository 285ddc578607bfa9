import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { readSources } from './support/sources.ts';

/**
 * The floors of the source, lowest first. A file belongs to the first floor whose pattern matches. It imports from its
 * own folder and from lower floors.
 */
const floors: readonly (readonly [name: string, files: RegExp])[] = [
  [
    'words',
    /^(?:clock|config|errors|etag|exact-json|file-systems|format|int64|operator-role|postgres-address|promises|random-text|run-in-thread|schema|setting-sources|setting-values|violations)\.ts$/,
  ],
  ['plans', /^plans\//],
  ['rules', /^(?:\w+\/rules\/.*|pets\/pet(?:-values)?|accounts\/(?:account|api-key|key-state))\.ts$/],
  [
    'ports',
    /^(?:storage\/(?:database|delete-old|dialect|erase|insert-row|read-page|row-buffer|store-facts|tables|take-oldest|text-start)|limits\/counters)\.ts$/,
  ],
  ['erasures that accounts call', /^(?:events\/erase-event-references|webhooks\/erase-webhooks)\.ts$/],
  ['the key that acts', /^accounts\/acting-key\.ts$/],
  ['rooms without neighbours', /^(?:audit|idempotency|inventory|usage)\//],
  ['rows of animals', /^pets\/pet-rows\.ts$/],
  // An order of an animal that is overdue ends when somebody next needs the animal.
  ['overdue holds', /^orders\/overdue-holds\.ts$/],
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
  ['transactions', /^transactions\.ts$/],
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

const topFolder = (file: string) => file.split('/', 1)[0];
const sources = (await readSources()).filter(({ file }) => file.endsWith('.ts'));
const imports = sources.flatMap(({ file: from, text }) =>
  Array.from(text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g), ([, target = '']) => ({
    from,
    to: join(dirname(from), target),
  })),
);

test('every source file belongs to a layer', () => {
  const outside = sources.filter(({ file }) => findFloor(file) < 0);
  assert.deepEqual(outside, []);
});

test('a file imports only from its own folder or from lower layers', () => {
  assert.ok(imports.length > 100);
  const breaches = imports.filter(({ from, to }) => {
    const isOwnFolder = topFolder(from) === topFolder(to);
    const areWords = findFloor(from) === 0 && findFloor(to) === 0;
    return !isOwnFolder && !areWords && findFloor(to) >= findFloor(from);
  });
  assert.deepEqual(breaches, []);
});

test('no file imports itself through others', () => {
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), [...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file)) return;
    for (const { to } of imports.filter(({ from }) => from === file)) visit(to, [...path, file]);
    done.add(file);
  };
  for (const { file } of sources) visit(file, []);
});

test('the domain layers import neither HTTP modules nor a database driver', () => {
  for (const { file, text } of sources.filter(({ file }) => findFloor(file) < domainFloors))
    assert.doesNotMatch(text, /from '(?:find-my-way|pg|node:sqlite|node:http|@redis|redis)/, file);
});

test('a page of the console imports only types from outside of its folder', () => {
  const pages = sources.filter(({ file }) => file.startsWith('operator/console/pages/'));
  assert.ok(pages.length > 20);
  for (const { file, text } of pages) assert.doesNotMatch(text, /^import (?!type )[^;]*from '\.\.\//m, file);
});

test('only the entry file reads environment variables', () => {
  for (const { file, text } of sources)
    if (file !== 'main.ts') assert.doesNotMatch(text, /process\.env/, file);
});
