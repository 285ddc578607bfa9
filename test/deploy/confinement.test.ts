import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { newestSchema } from '../../src/storage/migrations/migrate.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { runInProcess } from '../support/command-line.ts';
import { untilRendered } from '../support/documentation.ts';
import { whyNoMounts, withMounts } from '../support/mounts.ts';
import { migrateAsBefore, migrationsOf110 } from '../support/older-schema.ts';
import { readToEnd, runProgram, serveInProcess } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');
const dockerfile = await readFile(join(root, 'deploy/Dockerfile'), 'utf8');
const unit = await readFile(join(root, 'deploy/animal-store.service'), 'utf8');
const [, command = ''] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? [];
/** The command line of the container, without the path of Node. */
const containerArgs: readonly string[] = JSON.parse(command).slice(1);

test('the container and the systemd unit start the service with the same command', () => {
  assert.deepEqual(/^ExecStart=\S+ (.*)$/m.exec(unit)?.[1]?.split(' '), containerArgs);
  assert.ok(containerArgs.includes('--permission'));
});

const makeStore = async (databaseUrl: string) => (await openDatabase(databaseUrl)).close();

/**
 * Copies exactly the files of the image into a new folder, and starts the service there with the shipped command. The
 * folders of the copy replace those of the image. `store` is the file of the store, which `make` creates.
 */
async function startAsShipped(t: TestContext, store: string, make = makeStore) {
  const folder = await makeFolder(t);
  const [app, data, home] = [join(folder, 'app'), join(folder, 'data'), join(folder, 'home')];
  await Promise.all([mkdir(data), mkdir(home)]);
  const copied = Array.from(dockerfile.matchAll(/^COPY (\w\S*) /gm), ([, name = '']) => name);
  for (const name of copied) await cp(join(root, name), join(app, name), { recursive: true });
  const packages = await realpath(join(root, 'node_modules'));
  await symlink(packages, join(app, 'node_modules'));
  const databaseUrl = `sqlite:${join(folder, store)}`;
  const adapt = (arg: string) => arg.replace('/opt/animal-store', app).replace('/var/lib/animal-store', data);
  // node_modules is a link, so Node must be allowed to read the target of the link.
  const args = [`--allow-fs-read=${packages}`, ...containerArgs.map(adapt), '--json'];
  await make(databaseUrl);
  const child = spawn(process.execPath, args, {
    cwd: app,
    env: {
      ...{
        ENVIRONMENT: 'staging',
        REQUIRE_STORE: 'true',
        PORT: '0',
        OPS_PORT: '0',
        DATABASE_URL: databaseUrl,
      },
      ...{ HOME: home, TMPDIR: home, XDG_CACHE_HOME: home },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  return { folder, databaseUrl, child, ended: readToEnd(child) };
}

test('the shipped service serves all under the permission model with files only beside its store', async (t) => {
  const { folder, databaseUrl, child, ended } = await startAsShipped(t, 'data/animal-store.db');
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    ended.then(({ stderr }) => assert.fail(stderr)),
  ]);
  const { url, opsUrl } = JSON.parse(line);
  const created = await runInProcess(['keys', 'create', '--plan', 'free', '--json'], databaseUrl);
  const { key } = JSON.parse(created.stdout);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const body = '{"name":"Rex","categoryId":1}';
  assert.equal((await fetch(`${url}/pets`, { method: 'POST', headers, body })).status, 201);
  const { origin } = new URL(url);
  // A page gets 503 while the documentation is made.
  await untilRendered(origin);
  for (const address of [
    ...[`${url}/pets`, `${url}/pets/1`, `${origin}/docs`, `${origin}/openapi.json`],
    ...['healthz', 'readyz', 'metrics'].map((path) => `${opsUrl}/${path}`),
    `${opsUrl}/console`,
  ])
    assert.equal((await fetch(address, { headers })).status, 200, address);
  for (const file of await readdir(join(folder, 'data'))) assert.match(file, /^animal-store\.db/);
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
  assert.deepEqual(await readdir(join(folder, 'home')), []);
});

test('the shipped service migrates a store of an older release and keeps a copy of it', async (t) => {
  async function makeOlderStore(url: string) {
    using raw = new DatabaseSync(url.slice('sqlite:'.length));
    const execute = async <Row>(sql: string) => raw.prepare(sql).all() as Row[];
    await migrateAsBefore({ url, execute }, migrationsOf110.slice(0, 1));
  }
  const { folder, child, ended } = await startAsShipped(t, 'data/animal-store.db', makeOlderStore);
  await Promise.race([once(child.stdout, 'data'), ended.then(({ stderr }) => assert.fail(stderr))]);
  const files = await readdir(join(folder, 'data'));
  assert.ok(files.includes(`animal-store.db.before-${newestSchema.at(-1)}`), files.join());
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
});

test('the shipped service gives profiles under the permission model', async (t) => {
  const { folder, databaseUrl, child, ended } = await startAsShipped(t, 'data/animal-store.db');
  const [line] = await Promise.race([
    once(child.stdout, 'data'),
    ended.then(({ stderr }) => assert.fail(stderr)),
  ]);
  const settings = { OPS_PORT: new URL(JSON.parse(line).opsUrl).port };
  for (const kind of [['--cpu', '1s'], ['--heap']]) {
    const to = join(folder, `profile${kind[0]}`);
    const ran = await runInProcess(['profile', ...kind, '--to', to, '--json'], databaseUrl, { settings });
    assert.equal(ran.code, 0, ran.stderr);
    assert.ok(JSON.parse(ran.stdout).bytes > 1_000);
  }
  child.kill('SIGTERM');
  const { code, stderr } = await ended;
  assert.equal(code, 0, stderr);
});

test('the shipped service fails to start if the store is outside its data folder', async (t) => {
  const { folder, ended } = await startAsShipped(t, 'elsewhere.db');
  const { code, stderr } = await ended;
  assert.equal(code, 1);
  assert.match(stderr, /^error: the database .*elsewhere\.db cannot be opened: .*restricted.*$/m);
  assert.deepEqual((await readdir(folder)).sort(), ['app', 'data', 'elsewhere.db', 'home']);
});

test('an import of 50,000 rows, an export, a backup and a service write only to the data folder', {
  skip: whyNoMounts(),
}, async (t) => {
  const data = join(await makeFolder(t), 'data');
  await mkdir(data);
  const readOnly = ['/tmp', '/var/tmp', '/dev/shm', '/'].map((folder) => ({ readOnly: folder }));
  const wrapper = withMounts({ from: data, at: data }, ...readOnly);
  const settings = { ENVIRONMENT: 'staging', DATABASE_URL: `sqlite:${join(data, 'store.db')}` };
  const file = join(data, 'animals.csv');
  const lines = Array.from({ length: 50_000 }, (_, row) => `an animal with a longer name ${row},${row}`);
  await writeFile(file, `name,categoryId\n${lines.join('\n')}\n`);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runProgram([...args, '--json'], { settings, wrapper });
    assert.equal(code, 0, stdout + stderr);
    return JSON.parse(stdout);
  };
  for (let times = 1; times <= 2; times += 1) assert.equal((await run('import', file)).imported, 50_000);
  assert.equal((await run('export', '--output', join(data, 'all.ndjson'))).exported, 100_000);
  assert.ok((await run('backup', join(data, 'backup.db'))).bytes > 0);
  const service = await serveInProcess(t, { settings, wrapper });
  assert.equal((await service.end('SIGTERM')).code, 0);
  const left = (await readdir(data)).filter((name) => !name.startsWith('store.db'));
  assert.deepEqual(left.sort(), ['all.ndjson', 'animals.csv', 'backup.db']);
});
