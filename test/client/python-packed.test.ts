import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { pythonPackageNames } from '../../src/http/docs-site/routes.ts';
import { shellEnvironment } from '../docs/example-service.ts';
import { findLinks, readDocument, root } from '../docs/markdown.ts';
import { whyNoPython } from '../support/python.ts';
import { makeFolder, startService } from '../support/service.ts';

const run = promisify(execFile);
const skip = await whyNoPython();
const { wheel, source } = pythonPackageNames;
const kept = (name: string) => readFile(join(root, 'client-python/package', name));
const { app } = await startService({ after });
// On a busy machine, the pages may take longer than a request waits for them.
while ((await fetch(`${app.url}/docs`)).status === 503);

/** Runs a program without any index of packages. Returns its standard output. */
async function runIn(folder: string, program: string, ...args: string[]): Promise<string> {
  const env = { ...shellEnvironment, PIP_NO_INDEX: '1', PYTHONDONTWRITEBYTECODE: '1' };
  return (await run(program, args, { cwd: folder, env })).stdout;
}

test('the stored packages for /docs/client are a build of the sources, byte for byte', {
  skip,
}, async (t) => {
  const folder = await makeFolder(t);
  const told = await runIn(folder, 'python3', join(root, 'client-python/backend.py'), folder);
  assert.equal(told, `${wheel} ${source}\n`);
  const hint = 'run "npm run client:pack"';
  assert.deepEqual(await readFile(join(folder, wheel)), await kept(wheel), hint);
  // Compressors differ, so the contents are compared.
  assert.deepEqual(gunzipSync(await readFile(join(folder, source))), gunzipSync(await kept(source)), hint);
});

test('the wheel of a release stays unchanged', async () => {
  const released = '58b30c6cf15e0aff7f5555163ea61568ae59f327a8a7418e93af176a693fc46f';
  assert.equal(hash('sha256', await kept('animal_store-1.0.0-py3-none-any.whl')), released);
});

test('the wheel contains the package, its metadata and the license', { skip }, async () => {
  const list = 'import sys, zipfile; print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))';
  const path = join(root, 'client-python/package', wheel);
  const names = (await runIn(root, 'python3', '-c', list, path)).trim().split('\n');
  const others = names.filter((name) => !/^animal_store\/[a-z_]+\.py$/.test(name));
  const info = 'animal_store-1.0.0.dist-info';
  const metadata = ['LICENSE', 'METADATA', 'RECORD', 'WHEEL'].map((name) => `${info}/${name}`);
  assert.deepEqual(others.sort(), [...metadata, 'animal_store/py.typed']);
});

test('the README of the package has no links into the project', async () => {
  const links = findLinks(await readDocument('client-python/README.md'));
  assert.deepEqual(
    links.filter((link) => !/^(?:#|https?:)/.test(link)),
    [],
  );
});

test('the version of the package is that of its files and of its User-Agent', async () => {
  const [, version] = /^version = "(.+)"$/m.exec(await readDocument('client-python/pyproject.toml')) ?? [];
  const settings = await readDocument('client-python/animal_store/_settings.py');
  assert.ok(settings.includes(`\nVERSION = "${version}"\n`));
  assert.equal(wheel, `animal_store-${version}-py3-none-any.whl`);
  assert.equal(source, `animal_store-${version}.tar.gz`);
});

for (const [name, type, file] of [
  [wheel, 'application/zip', wheel],
  [source, 'application/gzip', source],
  ['animal_store.tar.gz', 'application/gzip', source],
] as const)
  test(`the service serves ${file} as ${name}`, async () => {
    const answer = await fetch(`${app.url}/docs/client/${name}`);
    assert.equal(answer.headers.get('content-type'), type);
    assert.deepEqual(Buffer.from(await answer.bytes()), await kept(file));
  });

test('the command on the page of the client names the wheel of this service', async () => {
  const page = await (await fetch(`${app.url}/docs/python-client`)).text();
  assert.ok(page.includes(`${app.url}/docs/client/${wheel}`));
});

test('pip installs the newest source package from the service without an index', { skip }, async (t) => {
  const folder = await makeFolder(t);
  await runIn(folder, 'python3', '-m', 'venv', 'shop');
  const pip = ['-m', 'pip', '--disable-pip-version-check', 'install'];
  await runIn(folder, 'shop/bin/python', ...pip, `${app.url}/docs/client/animal_store.tar.gz`);
  const told = await runIn(
    folder,
    'shop/bin/python',
    '-c',
    'import animal_store; print(animal_store.__doc__)',
  );
  assert.match(told, /^The Python client of the Animal Store\./);
});
