import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..');
const readText = (file: string) => readFileSync(join(root, file), 'utf8');

interface LockedPackage {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
}

/** The licences that allow use, change and resale, and ask only that their text and notices are kept. */
const allowed = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
];

const lock: { packages: Record<string, LockedPackage> } = JSON.parse(readText('package-lock.json'));
const running = Object.entries(lock.packages)
  .filter(([path, { dev }]) => path !== '' && dev !== true)
  .map(([path, { version, license }]) => ({
    id: `${path.split('node_modules/').at(-1)} ${version}`,
    license,
  }));
const ids = [...new Set(running.map(({ id }) => id))].sort();

test('each package that runs has a licence that allows its use', () => {
  assert.ok(running.length > 50);
  for (const { id, license } of running) assert.ok(allowed.includes(license ?? ''), `${id}: ${license}`);
});

test('the bill of materials lists the packages that run (npm run sbom)', () => {
  const bom: { components: { name: string; version: string }[] } = JSON.parse(
    readText('release/animal-store.cdx.json'),
  );
  const listed = bom.components.map(({ name, version }) => `${name} ${version}`);
  assert.deepEqual([...new Set(listed)].sort(), ids);
});

test('the bill of materials is of this version (npm run sbom)', () => {
  const { metadata } = JSON.parse(readText('release/animal-store.cdx.json'));
  assert.equal(metadata.component.version, JSON.parse(readText('package.json')).version);
});

test('the page of licences lists the packages that run (npm run sbom)', () => {
  const rows = readText('docs/operations/licenses.md').matchAll(/^\| ([^ ]+) \| (\d[^ ]*) \|/gm);
  assert.deepEqual([...new Set([...rows].map(([, name, version]) => `${name} ${version}`))].sort(), ids);
});
