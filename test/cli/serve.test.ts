import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { isKeyText } from '../../src/accounts/api-key.ts';
import { findPostgres } from '../support/engines.ts';
import { listen } from '../support/local-server.ts';
import { connectPostgres } from '../support/postgres-databases.ts';
import { readToEnd, runProgram, serveInProcess, spawnProgram, until } from '../support/processes.ts';
import { makeFolder, startService } from '../support/service.ts';

const postgres = await findPostgres();
const freePorts = { PORT: '0', OPS_PORT: '0' };

describe('serve', () => {
  test('with --json prints its addresses in one JSON value and logs to standard error', async (t) => {
    const service = await serveInProcess(t);
    const { code, stdout } = await service.end('SIGTERM');
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout), { url: service.url, opsUrl: service.opsUrl, key: null });
    for (const line of service.readLog().trimEnd().split('\n'))
      assert.equal(typeof JSON.parse(line).level, 'number');
  });

  test('prints no warning of Node.js when the console is first visited', async (t) => {
    const service = await serveInProcess(t);
    assert.equal((await fetch(`${service.opsUrl}/console`)).status, 200);
    await service.end('SIGTERM');
    assert.doesNotMatch(service.readLog(), /Warning/);
  });

  test('in development prints a first key for an empty store', async (t) => {
    const settings = { ...freePorts, DATABASE_URL: `sqlite:${await makeFolder(t)}/store.db` };
    const child = spawnProgram(['serve'], { settings });
    t.after(() => child.kill('SIGKILL'));
    const ended = readToEnd(child);
    let output = '';
    while (!output.includes('serving')) output += await (child.stdout && once(child.stdout, 'data'));
    const [line = ''] = /^ {2}curl .*$/m.exec(output) ?? [];
    const { stdout } = await promisify(execFile)('sh', ['-c', line]);
    assert.match(stdout, /^\{"id":1,"name":"Rex","categoryId":1,"status":"available"\}\[\{"id":1,.*\}\]$/);
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);

    const second = await serveInProcess(t, { settings: { ...settings, ENVIRONMENT: 'development' } });
    assert.equal(second.key, null);
  });

  test('of several services that start at once on an empty store, only the one with the first key runs', async (t) => {
    const settings = { DATABASE_URL: `sqlite:${await makeFolder(t)}/store.db`, ENVIRONMENT: 'development' };
    const starts = Array.from({ length: 4 }, () => serveInProcess(t, { settings }));
    const ended = await Promise.allSettled(starts);
    const [serving, ...others] = ended.filter(({ status }) => status === 'fulfilled');
    assert.deepEqual(others, []);
    assert.ok(serving?.status === 'fulfilled' && isKeyText(serving.value.key ?? ''));
    for (const start of ended)
      if (start.status === 'rejected') assert.match(String(start.reason), /another service is serving/);
  });

  test('in production logs how to create the first key instead of creating it', async (t) => {
    const settings = { ENVIRONMENT: 'production' };
    const hint =
      /the store has no keys: \\"animal-store keys create --plan free --account NAME\\" creates one/;
    const first = await startService(t, settings);
    assert.equal(first.app.firstKey, null);
    assert.match(first.readLog(), hint);
    await first.createKey();
    await first.stop();
    const second = await startService(t, { ...settings, DATABASE_URL: first.config.databaseUrl });
    assert.doesNotMatch(second.readLog(), hint);
  });

  test('on a damaged store ends with the reason', async (t) => {
    const file = `${await makeFolder(t)}/store.db`;
    const settings = { ...freePorts, DATABASE_URL: `sqlite:${file}` };
    const made = await runProgram(['migrate'], { settings });
    assert.equal(made.code, 0, made.stderr);
    const store = new DatabaseSync(file);
    const { rootpage } =
      store.prepare("select rootpage from sqlite_schema where name = 'secrets'").get() ?? {};
    const { page_size } = store.prepare('pragma page_size').get() ?? {};
    store.close();
    const handle = await open(file, 'r+');
    await handle.write(
      Buffer.alloc(Number(page_size), 0xa7),
      0,
      null,
      (Number(rootpage) - 1) * Number(page_size),
    );
    await handle.close();
    const { code, stderr } = await runProgram(['serve', '--json'], { settings });
    assert.equal(code, 1);
    assert.match(stderr, /^error: the store failed during the start: database disk image is malformed$/m);
    assert.doesNotMatch(stderr, /"stack"|try again/);
  });

  test('prints one line if a port is in use, before it creates the first key', async (t) => {
    const { port: taken } = await listen(t, createServer());
    const DATABASE_URL = `sqlite:${join(await makeFolder(t), 'store.db')}`;
    const settings = { ...freePorts, DATABASE_URL, ENVIRONMENT: 'development' };
    for (const port of ['PORT', 'OPS_PORT']) {
      const taking = { ...settings, [port]: taken, LOG_LEVEL: 'silent' };
      const { code, stderr } = await runProgram(['serve'], { settings: taking });
      const line = `error: cannot listen on 127.0.0.1:${taken}: the port is taken\n`;
      assert.deepEqual([code, stderr], [1, line]);
    }
    assert.notEqual((await serveInProcess(t, { settings })).key, null);
  });
});

test('stops on SIGTERM even if another program holds a lock on the store', async (t) => {
  const service = await serveInProcess(t, { settings: { ENVIRONMENT: 'development' } });
  const locker = new DatabaseSync(service.settings.DATABASE_URL.slice('sqlite:'.length), { timeout: 10_000 });
  t.after(() => locker.close());
  locker.exec('begin immediate');
  const headers = { authorization: `Bearer ${service.key}`, connection: 'close' };
  assert.equal((await fetch(`${service.url}/pets`, { headers })).status, 200);
  const { code, signal } = await service.end('SIGTERM');
  assert.deepEqual({ code, signal }, { code: 0, signal: null });
  assert.match(service.readLog(), /the last second of counts could not be written/);
});

describe('a start that waits for a lock', () => {
  /** Starts a service on a locked store, sends SIGTERM while the service waits, and expects that it exits with 0. */
  async function stopWhileStarting(t: TestContext, DATABASE_URL: string): Promise<void> {
    const settings = { ...freePorts, ENVIRONMENT: 'staging', DATABASE_URL };
    const child = spawnProgram(['serve', '--json'], { settings });
    t.after(() => child.kill('SIGKILL'));
    child.stderr?.once('data', () => child.kill('SIGTERM'));
    const { code, stdout, stderr } = await readToEnd(child);
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, /"starting".*"stopping: the start is cancelled"/s);
  }

  test('on a SQLite file exits with 0 on SIGTERM', async (t) => {
    const path = `${await makeFolder(t)}/store.db`;
    const holder = new DatabaseSync(path);
    t.after(() => holder.close());
    holder.exec('begin exclusive');
    await stopWhileStarting(t, `sqlite:${path}`);
  });

  test('on PostgreSQL exits with 0 on SIGTERM', { skip: postgres.skip }, async (t) => {
    const { url } = await postgres.createEmptyStore(t);
    await holdMigratorLock(t, url);
    await stopWhileStarting(t, url);
  });

  test('on PostgreSQL does not happen if the schema is current', { skip: postgres.skip }, async (t) => {
    const store = await postgres.createStore(t);
    await store.open();
    await holdMigratorLock(t, store.url);
    await serveInProcess(t, { settings: { DATABASE_URL: store.url } });
  });

  /** Takes the lock that an instance holds during a migration. */
  async function holdMigratorLock(t: TestContext, url: string): Promise<void> {
    const client = await connectPostgres(t, url);
    await client.query('select pg_advisory_lock(3853314791062309107)');
  }
});

test('a service ignores SIGHUP and SIGUSR1, which would open a debugger', async (t) => {
  const service = await serveInProcess(t);
  for (const signal of ['SIGHUP', 'SIGUSR1'] as const) {
    service.child.kill(signal);
    assert.equal((await fetch(`${service.opsUrl}/healthz`)).status, 200);
  }
  const { code, stderr } = await service.end('SIGTERM');
  assert.equal(code, 0);
  assert.doesNotMatch(stderr, /[Dd]ebugger/);
});

describe('a service that stops', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    test(`on ${signal} exits with 0 and does not wait for an endless timer`, async (t) => {
      const service = await serveInProcess(t, { preload: 'setInterval(() => undefined, 60_000);' });
      assert.equal((await service.end(signal)).code, 0);
    });

  test('ends immediately on a second SIGINT, even during a request', async (t) => {
    const service = await serveInProcess(t, { settings: { ENVIRONMENT: 'development' } });
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname).on('error', () => undefined);
    const head = `authorization: Bearer ${service.key}\r\ncontent-type: application/json\r\nexpect: 100-continue`;
    socket.write(`POST /v1/pets HTTP/1.1\r\nhost: a\r\n${head}\r\ncontent-length: 9\r\n\r\n`);
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 /);
    service.child.kill('SIGINT');
    await service.untilLogged('stopping');
    const interrupt = async () => {
      service.child.kill('SIGINT');
      await new Promise(setImmediate);
      return service.child.signalCode;
    };
    await until(interrupt, (signal) => signal === 'SIGINT', 5_000);
  });

  test('stores the last use of its keys', async (t) => {
    const service = await serveInProcess(t, { settings: { ENVIRONMENT: 'development' } });
    await fetch(`${service.url}/pets`, { headers: { authorization: `Bearer ${service.key}` } });
    await service.end('SIGTERM');
    const { stdout } = await runProgram(['keys', 'list', '--json'], service);
    assert.match(stdout, /"lastUsedAt":"\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z"/);
  });
});

describe('an uncaught error', () => {
  for (const [kind, failure] of [
    ['an exception', `throw new Error('out of the blue')`],
    ['a rejected promise', `Promise.reject(new Error('out of the blue'))`],
  ] as const)
    test(`writes one fatal log line and exits with 1: ${kind}`, async (t) => {
      const service = await serveInProcess(t, { preload: `process.on('SIGUSR2', () => { ${failure}; })` });
      await service.untilLogged('serving');
      assert.equal((await service.end('SIGUSR2')).code, 1);
      const lines = service.readLog().trimEnd().split('\n');
      const fatal = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 60);
      assert.deepEqual([fatal.length, fatal[0].err.message], [1, 'out of the blue']);
    });
});
