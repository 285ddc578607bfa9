import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { clientPackageName } from '../../src/http/docs-site/routes.ts';
import { findLinks } from '../docs/markdown.ts';
import { untilRendered } from '../support/documentation.ts';
import { startWithKey } from '../support/service.ts';
import { installKept, installPacked, runIn } from './packed-client.ts';

const { project, packed } = await installPacked({ after });
const { service, key: apiKey } = await startWithKey({ after });
await untilRendered(service.app.url);
const built = join(project, 'node_modules/@animal-store/client');
/** The oldest Node.js that the client supports, if this machine has one. */
const oldNode = '/usr/bin/node';
const version = await runIn(project, oldNode, '--version').catch(() => 'missing');
const skip = version.startsWith('v20.') ? false : `SKIPPED: ${oldNode} is ${version.trim()}, not version 20`;
const read = (path: string, folder = built) => readFile(join(folder, path), 'utf8');

async function runProgram(name: string, source: string, program = 'node'): Promise<string> {
  await writeFile(join(project, name), source);
  return await runIn(project, program, name);
}

test('the tarball contains the build, the README and the license, but no source', () => {
  const others = packed.filter(
    (path) => !/^dist\/(?:(?:cjs\/)?[a-z0-9-]+\.(?:js|d\.ts)|command\/[a-z]+\.js)$/.test(path),
  );
  assert.deepEqual(others.sort(), ['LICENSE', 'README.md', 'dist/cjs/package.json', 'package.json']);
  for (const index of ['dist/index.js', 'dist/index.d.ts', 'dist/cjs/index.js', 'dist/cjs/index.d.ts'])
    assert.ok(packed.includes(index), index);
});

test('the README of the package has no links into the project', async () => {
  const links = findLinks(await read('README.md')).filter((link) => !/^(?:#|https?:)/.test(link));
  assert.deepEqual(links, []);
});

test('the package has no dependencies', async () => {
  const installed = await readdir(join(project, 'node_modules'));
  const names = installed.filter((name) => !name.startsWith('.'));
  assert.deepEqual(names, ['@animal-store']);
});

test('the stored tarball for /docs/client matches a build of the sources', async () => {
  const kept = await installKept({ after });
  for (const path of packed)
    assert.equal(await read(path, kept), await read(path), `${path}: run "npm run client:pack"`);
  const list = async (folder: string) => (await readdir(join(folder, 'dist'), { recursive: true })).sort();
  assert.deepEqual(await list(kept), await list(built));
});

/** Returns the hash of a tarball that the service serves. */
async function hashServed(name: string): Promise<string> {
  const answer = await fetch(`${service.app.url}/docs/client/${name}`);
  assert.equal(answer.headers.get('content-type'), 'application/gzip', name);
  return hash('sha256', await answer.bytes());
}

test('the service serves each released tarball unchanged', async () => {
  const released = {
    '1.1.0': 'b00074d80a528ed07aecbdc9c2802be5b47b91d8ed310da697da5c8c4864e036',
    '1.2.0': '148e00fa361c5a5545316f8d91f1d7337c3631a4b4f10ff75c650e2d6575a2fb',
    '1.3.0': '3e3b07ff75fa0f75920fe17af44efe8f90cae3c5abf361e73501971b0bad1568',
  };
  for (const [release, hashed] of Object.entries(released))
    assert.equal(await hashServed(`animal-store-client-${release}.tgz`), hashed, release);
});

test('the service serves the present tarball under a name that stays', async () => {
  assert.equal(await hashServed('animal-store-client.tgz'), await hashServed(clientPackageName));
});

test('only the command imports modules of a platform', async () => {
  const foreign = /from '(?!\.\/)|import\(|\bprocess\.|\bBuffer\b|\brequire\((?!"\.\/)/;
  for (const path of packed.filter((name) => name.endsWith('.js') && !name.startsWith('dist/command/')))
    assert.doesNotMatch(await read(path), foreign, path);
});

const use = `const client = new AnimalStore({ apiKey: '${apiKey}', baseUrl: '${service.baseUrl}' });
async function run() {
  const made = await client.pets.create({ name: 'Rex', categoryId: 9223372036854775807n });
  for await (const pet of client.pets.listAll({ limit: 1 }))
    if (pet.id === made.id) return console.log(stringifyExactJson(pet));
}
run();`;

for (const [name, load] of [
  ['use.mjs', "import { AnimalStore, stringifyExactJson } from '@animal-store/client';"],
  ['use.cjs', "const { AnimalStore, stringifyExactJson } = require('@animal-store/client');"],
] as const)
  for (const [what, program, options] of [
    ['plain JavaScript', 'node', {}],
    ['an older Node.js', oldNode, { skip }],
  ] as const)
    test(`${what} can add and list animals with the installed package in ${name}`, options, async () => {
      const expected = /^\{"id":\d+,"name":"Rex","categoryId":9223372036854775807,"status":"available"\}\n$/;
      assert.match(await runProgram(name, `${load}\n${use}`, program), expected);
    });

test('tools that do not know "exports" find the CommonJS build and its types', async () => {
  const { main, types } = JSON.parse(await read('package.json'));
  const program = `const { AnimalStore } = require('./node_modules/@animal-store/client/${main}');
    console.log(typeof AnimalStore);`;
  assert.equal(await runProgram('direct.cjs', program), 'function\n');
  const declared = await read(types);
  assert.match(declared, /AnimalStore/);
  assert.doesNotMatch(declared, /\.ts'/);
});

test('without onDeprecation the client prints one deprecation warning to standard error', async () => {
  const printed = await runProgram(
    'warned.js',
    `import { AnimalStore } from '@animal-store/client';
     const lines = [];
     console.warn = (line) => lines.push(line);
     const { pets } = new AnimalStore({ apiKey: '${apiKey}', baseUrl: '${service.baseUrl}' });
     for (let n = 0; n < 3; n += 1) await pets.get(1).catch(() => {});
     console.log(lines.length, lines[0]);`,
  );
  assert.match(printed, /^1 Animal Store: GET \/pets\/\{petId\} \(getPet\) is deprecated/);
});

/** A strict program. The compiler also fails if one of the marked lines has no mistake. */
const typed = `import { AnimalStore, AnimalStoreError, type ErrorCode, type Pet, type PetEvent, type StoreEvent } from '@animal-store/client';

const client = new AnimalStore({ apiKey: 'as_dev_x', baseUrl: 'http://127.0.0.1/v1' });
const code: ErrorCode = 'rate_limit_exceeded';
// @ts-expect-error: the service has no such code.
export const unknown: ErrorCode = 'too_fast';

export const later: StoreEvent['type'] = 'pet.renamed';
export const nameOf = (event: StoreEvent): string => (event.type === 'pet.added' ? event.data.name : event.type);

export async function use(signal: AbortSignal, event: PetEvent): Promise<bigint> {
  try {
    const pet = await client.pets.create({ name: 'Rex', categoryId: 1n, status: 'sold' }, { signal });
    // @ts-expect-error: an animal has no such status.
    await client.pets.create({ name: 'Rex', categoryId: 1n, status: 'gone' });
    // @ts-expect-error: a category is a number.
    await client.pets.create({ name: 'Rex', categoryId: '1' });
    const first: Pet | undefined = (await client.pets.list({ limit: 1 })).items[0];
    await client.orders.place({ petId: event.data.id });
    return pet.id + (first?.categoryId ?? 0n);
  } catch (error) {
    if (error instanceof AnimalStoreError && error.code === code) return 0n;
    throw error;
  }
}
`;
const compiler = join(import.meta.dirname, '../../node_modules/.bin/tsc');
const options = ['--noEmit', '--strict', '--target', 'es2022', '--types', '', '--lib', 'es2022,dom'];

for (const [name, ...module] of [
  ['typed.mts', '--module', 'nodenext'],
  ['typed.cts', '--module', 'nodenext'],
  ['typed.ts', '--module', 'esnext', '--moduleResolution', 'bundler'],
] as const)
  test(`a strict TypeScript program compiles with only the types of the package: ${name}`, async () => {
    await writeFile(join(project, name), typed);
    await runIn(project, compiler, ...options, ...module, name);
  });
