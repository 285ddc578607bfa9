import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findLinks } from '../docs/markdown.ts';
import { startService } from '../support/service.ts';
import { installKept, installPacked, runIn } from './packed-client.ts';

const { project, packed } = await installPacked({ after });
const service = await startService({ after });
const apiKey = await service.createKey();

async function runProgram(name: string, source: string): Promise<string> {
  await writeFile(join(project, name), source);
  return await runIn(project, 'node', name);
}

test('the tarball contains the build, the README and the license, but no source', () => {
  const others = packed.filter((path) => !/^dist\/[a-z0-9-]+\.(?:js|d\.ts)$/.test(path));
  assert.deepEqual(others.sort(), ['LICENSE', 'README.md', 'package.json']);
  assert.ok(packed.includes('dist/index.js') && packed.includes('dist/index.d.ts'));
});

test('the stored tarball for /docs/client matches a build of the sources', async () => {
  const kept = await installKept({ after });
  const built = join(project, 'node_modules/@animal-store/client');
  for (const path of packed)
    assert.equal(
      await readFile(join(kept, path), 'utf8'),
      await readFile(join(built, path), 'utf8'),
      `${path}: run "npm run client:pack"`,
    );
  assert.deepEqual((await readdir(join(kept, 'dist'))).sort(), (await readdir(join(built, 'dist'))).sort());
});

test('the packed README has no links into the project', async () => {
  const text = await readFile(join(project, 'node_modules/@animal-store/client/README.md'), 'utf8');
  assert.deepEqual(
    findLinks(text).filter((link) => !/^(?:#|https?:)/.test(link)),
    [],
  );
});

test('the package has no dependencies', async () => {
  const installed = await readdir(join(project, 'node_modules'));
  assert.deepEqual(
    installed.filter((name) => !name.startsWith('.')),
    ['@animal-store'],
  );
});

test('the build imports no module of a platform', async () => {
  const folder = join(project, 'node_modules/@animal-store/client');
  for (const path of packed.filter((name) => name.endsWith('.js'))) {
    const text = await readFile(join(folder, path), 'utf8');
    assert.doesNotMatch(text, /from '(?!\.\/)|import\(|\bprocess\.|\bBuffer\b|\brequire\(/, path);
  }
});

test('plain JavaScript can add and list animals with the installed package', async () => {
  const printed = await runProgram(
    'use.js',
    `import { AnimalStore, stringifyExactJson } from '@animal-store/client';
     const client = new AnimalStore({ apiKey: '${apiKey}', baseUrl: '${service.baseUrl}' });
     for (const name of ['Rex', 'Bello', 'Mimi'])
       await client.pets.create({ name, categoryId: 9223372036854775807n });
     for await (const pet of client.pets.listAll({ limit: 2 })) console.log(stringifyExactJson(pet));`,
  );
  const pet = (id: number, name: string) =>
    `{"id":${id},"name":"${name}","categoryId":9223372036854775807,"status":"available"}\n`;
  assert.equal(printed, pet(3, 'Mimi') + pet(2, 'Bello') + pet(1, 'Rex'));
});

test('without onDeprecation a deprecation warning goes to standard error, and the program ends by itself', async () => {
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

const typed = `import { AnimalStore, AnimalStoreError, type Pet } from '@animal-store/client';

const client = new AnimalStore({ apiKey: 'as_dev_x', baseUrl: 'http://127.0.0.1/v1' });

export async function use(signal: AbortSignal): Promise<bigint> {
  try {
    const pet = await client.pets.create({ name: 'Rex', categoryId: 1n, status: 'sold' }, { signal });
    const first: Pet | undefined = (await client.pets.list({ limit: 1 })).items[0];
    return pet.id + (first?.categoryId ?? 0n);
  } catch (error) {
    if (error instanceof AnimalStoreError && error.code === 'rate_limit_exceeded') return 0n;
    throw error;
  }
}
`;
const compiler = join(import.meta.dirname, '../../node_modules/.bin/tsc');
const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--types', ''];

test('a strict TypeScript program compiles with only the types of the package', async () => {
  await writeFile(join(project, 'typed.ts'), typed);
  await runIn(project, compiler, ...options, '--lib', 'es2022,dom', 'typed.ts');
});

for (const [mistake, told] of [
  [typed.replace("'sold'", "'gone'"), /'"gone"' is not assignable/],
  [typed.replace("=== 'rate_limit_exceeded'", "=== 'too_fast'"), /no overlap/],
  [typed.replace('categoryId: 1n', "categoryId: '1'"), /not assignable/],
] as const)
  test(`the types reject a wrong program: ${told}`, async () => {
    await writeFile(join(project, 'mistake.ts'), mistake);
    await assert.rejects(
      runIn(project, compiler, ...options, '--lib', 'es2022,dom', 'mistake.ts'),
      ({ stdout }: { stdout: string }) => told.test(stdout),
    );
  });
