import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { runInProcess } from '../support/command-line.ts';
import { makeFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const [dockerfile, unit] = await Promise.all([
  readFile(join(root, 'deploy/Dockerfile'), 'utf8'),
  readFile(join(root, 'deploy/animal-store.service'), 'utf8'),
]);

/** The command line of the container, without the path of Node. */
const containerArgs: readonly string[] = JSON.parse(/^CMD (\[.*\])$/m.exec(dockerfile)?.[1] ?? '[]').slice(1);
const unitArgs = /^ExecStart=\S+ (.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];

/** Copies exactly the files of the image into a new folder. */
async function installAsShipped(t: TestContext) {
  const folder = await makeFolder(t);
  const app = join(folder, 'app');
  const [data, home] = [join(folder, 'data'), join(folder, 'home')];
  await Promise.all([mkdir(data), mkdir(home)]);
  for (const [, name = ''] of dockerfile.matchAll(/^COPY (\w\S*) /gm))
    if (name !== 'package.json') await cp(join(root, name), join(app, name), { recursive: true });
  await cp(join(root, 'package.json'), join(app, 'package.json'));
  await symlink(join(root, 'node_modules'), join(app, 'node_modules'));
  return { folder, app, data, home };
}

type Installation = Awaited<ReturnType<typeof installAsShipped>>;

/** Starts the service with the shipped command. The folders of the installation replace those of the image. */
function start(t: TestContext, { app, data, home }: Installation, databaseUrl: string): ChildProcess {
  const args = containerArgs.map((arg) =>
    arg.replace('/opt/animal-store', app).replace('/var/lib/animal-store', data),
  );
  // node_modules is a link, so Node must be allowed to read the target of the link.
  const child = spawn(
    process.execPath,
    [`--allow-fs-read=${join(root, 'node_modules')}`, ...args, '--json'],
    {
      cwd: app,
      env: {
        ...{ ENVIRONMENT: 'staging', PORT: '0', OPS_PORT: '0', DATABASE_URL: databaseUrl },
        ...{ HOME: home, TMPDIR: home, XDG_CACHE_HOME: home },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  t.after(() => child.kill('SIGKILL'));
  return child;
}

test('the container and the systemd unit start the service with the same command', () => {
  assert.deepEqual(unitArgs, containerArgs);
  assert.ok(containerArgs.includes('--permission'));
});

test('the shipped service serves the API, the documentation and the operator port under the permission model, and leaves files only beside its store', async (t) => {
  const installation = await installAsShipped(t);
  const databaseUrl = `sqlite:${join(installation.data, 'animal-store.db')}`;
  const child = start(t, installation, databaseUrl);
  const complaints = child.stderr === null ? '' : text(child.stderr);
  const { value: line } = await createInterface({ input: child.stdout ?? assert.fail() })
    [Symbol.asyncIterator]()
    .next();
  const { url, opsUrl } = JSON.parse(line ?? assert.fail(await complaints));
  const { key } = JSON.parse(
    (await runInProcess(['keys', 'create', '--plan', 'free', '--json'], databaseUrl)).stdout,
  );
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

  const added = await fetch(`${url}/pets`, {
    method: 'POST',
    headers,
    body: '{"name":"Rex","categoryId":1}',
  });
  assert.equal(added.status, 201);
  const origin = new URL(url).origin;
  for (const address of [`${url}/pets`, `${url}/pets/1`, `${origin}/docs`, `${origin}/openapi.json`])
    assert.equal((await fetch(address, { headers })).status, 200, address);
  for (const path of ['healthz', 'readyz', 'metrics'])
    assert.equal((await fetch(`${opsUrl}/${path}`)).status, 200, path);

  for (const file of await readdir(installation.data)) assert.match(file, /^animal-store\.db/);
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  assert.equal(code, 0, await complaints);
  assert.deepEqual(await readdir(installation.home), []);
});

test('the shipped service fails to start if the store is outside its data folder', async (t) => {
  const installation = await installAsShipped(t);
  const child = start(t, installation, `sqlite:${join(installation.folder, 'elsewhere.db')}`);
  const [complaints, [code]] = await Promise.all([text(child.stderr ?? assert.fail()), once(child, 'exit')]);
  assert.equal(code, 1);
  assert.match(complaints, /^error: the database .*elsewhere\.db cannot be opened: .*restricted.*$/m);
  assert.deepEqual((await readdir(installation.folder)).sort(), ['app', 'data', 'home']);
});
