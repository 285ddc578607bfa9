import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Finding } from '../../src/doctor/finding.ts';
import { checkClock, checkNode, checkSecretFiles } from '../../src/doctor/machine.ts';
import { describeFailure } from '../../src/doctor/ports.ts';
import { compareClocks } from '../../src/doctor/store.ts';
import { createWorld } from '../support/command-line.ts';
import { listen } from '../support/local-server.ts';
import { until } from '../support/processes.ts';
import { findFreePort } from '../support/redis-server.ts';
import { type Ending, makeFolder, startService, type TestService } from '../support/service.ts';
import { examineWith, expectFinding } from './examined.ts';

async function examinePorts(test: Ending, settings: Record<string, string>) {
  return examineWith({ DATABASE_URL: `sqlite:${await makeFolder(test)}/a.db`, ...settings });
}

describe('about a port, the doctor reports', () => {
  test('that it is free, without taking it', async (t) => {
    const PORT = String(await findFreePort());
    const isFree = new RegExp(`^PORT 127.0.0.1:${PORT} is free`);
    for (let time = 0; time < 2; time += 1)
      expectFinding(await examinePorts(t, { PORT }), 'port', 'ok', isFree);
  });

  const isAnswered = (findings: readonly Finding[]) =>
    findings.every(({ is }) => !is.includes('does not answer'));

  /**
   * Examines the ports of a service. Repeats the check if the service did not answer in time, because the machine was
   * busy.
   */
  function examineServed(t: Ending, { app }: TestService, settings: Record<string, string> = {}) {
    const ports = { PORT: new URL(app.url).port, OPS_PORT: new URL(app.opsUrl).port };
    return until(() => examinePorts(t, { ...ports, ...settings }), isAnswered, 1_000);
  }

  test('that the service uses it', async (t) => {
    const service = await startService(t);
    const findings = await examineServed(t, service, { DATABASE_URL: service.config.databaseUrl });
    expectFinding(findings, 'port', 'ok', /^PORT .* is in use by the service/);
    expectFinding(findings, 'port', 'ok', /^OPS_PORT .* is in use by the service/);
  });

  test('that a service of another store uses it, even if this store does not exist', async (t) => {
    const service = await startService(t);
    const { url: DATABASE_URL } = await createWorld(t);
    for (const settings of [{}, { DATABASE_URL }]) {
      const findings = await examineServed(t, service, settings);
      expectFinding(findings, 'port', 'problem', /^PORT .* is in use by another Animal Store/);
      expectFinding(findings, 'port', 'problem', /^OPS_PORT .* is in use by another Animal Store/);
    }
  });

  test('that an Animal Store uses it, possibly with another store, if this store cannot be read', async (t) => {
    const settings = { DATABASE_URL: 'postgres://u@127.0.0.1:1/a' };
    const findings = await examineServed(t, await startService(t), settings);
    expectFinding(findings, 'port', 'warning', /^PORT .* may serve another store/);
  });

  test('that another program uses it, with any protocol', async (t) => {
    const web = createHttpServer((_request, response) => response.end('{"status":"ok"}'));
    const mail = createServer((socket) => socket.end('220 ready\r\n'));
    const ports = { PORT: (await listen(t, web)).port, OPS_PORT: (await listen(t, mail)).port };
    const findings = await examinePorts(t, ports);
    expectFinding(findings, 'port', 'problem', /^PORT .* is in use by another program/);
    expectFinding(findings, 'port', 'problem', /^OPS_PORT .* is in use by another program/);
  });

  test('that the program that uses it does not answer, within seconds', async (t) => {
    const { port: PORT } = await listen(t, createServer());
    expectFinding(await examinePorts(t, { PORT }), 'port', 'warning', /does not answer within 2 s/);
  });

  test('that this machine does not have the configured address', async (t) => {
    const findings = await examinePorts(t, { HOST: '192.0.2.1', PORT: '8080' });
    expectFinding(findings, 'port', 'problem', /has no address 192\.0\.2\.1/);
  });

  test('a problem if the service cannot listen, even for a reason without a code', () => {
    const finding = describeFailure(new Error('out of luck'), {
      setting: 'PORT',
      host: 'localhost',
      port: 1,
    });
    expectFinding(
      [finding],
      'port',
      'problem',
      /^the service cannot listen on PORT localhost:1: out of luck$/,
    );
  });
});

describe('about the settings, the doctor reports', () => {
  const cases: readonly [settings: Record<string, string>, is: RegExp][] = [
    [{ ENVIRONMENT: 'production' }, /PUBLIC_URL is not set/],
    [{ ENVIRONMENT: 'production', PUBLIC_URL: 'http://api.test/v1' }, /PUBLIC_URL is http/],
    [{ PUBLIC_URL: 'https://api.test/v1' }, /TRUST_PROXY is false/],
    [{ HOST: '10.0.0.1', OPS_HOST: '10.0.0.1' }, /^OPS_HOST is 10\.0\.0\.1: clients may reach/],
    [{ OPS_HOST: '::' }, /^OPS_HOST is ::: clients may reach/],
    [{ OPS_HOST: '8.8.4.4' }, /^OPS_HOST is 8\.8\.4\.4: clients may reach/],
    [{ ENVIRONMENT: 'production' }, /^WEBHOOK_SECRET_KEY is not set/],
    [{ DATABASE_URL: 'postgres:///store?host=h1,h2' }, /^DATABASE_URL names several hosts in the parameter/],
    [{ REDIS_URL: 'redis://h1,h2:26379' }, /^REDIS_URL names several hosts in the form of one server/],
    [{ REDIS_URL: 'redis://127.0.0.1:1' }, /only one service can serve a SQLite file/],
    [{ ENVIRONMENT: 'staging', DATABASE_URL: 'sqlite:nowhere/store.db' }, /DATABASE_URL is relative/],
  ];
  for (const [settings, is] of cases)
    test(`a warning if a valid setting is probably a mistake: ${is.source}`, async (t) => {
      expectFinding(await examinePorts(t, settings), 'settings', 'warning', is);
    });

  test('which settings are wrong, but does not check the resources that they name', async (t) => {
    const findings = await examinePorts(t, { PORT: 'http', DATABASE_URL: 'mysql://user:S3cret@127.0.0.1/a' });
    expectFinding(findings, 'settings', 'problem', /wrong settings: PORT must .*; DATABASE_URL must /);
    const checks = findings.map(({ check }) => check);
    assert.deepEqual(checks, ['settings', 'node', 'clock']);
    assert.doesNotMatch(JSON.stringify(findings), /S3cret/);
  });

  test('that they are valid', async (t) => {
    expectFinding(await examinePorts(t, {}), 'settings', 'ok', /for development/);
  });
});

describe('about the machine, the doctor reports', () => {
  test('that its Node.js is too old', () => {
    expectFinding([checkNode('22.1.0')], 'node', 'problem', /Node\.js 22\.1\.0/);
    expectFinding([checkNode('25.1.0')], 'node', 'warning', /Node\.js 25\.1\.0/);
    expectFinding([checkNode('27.1.0')], 'node', 'ok', /Node\.js 27\.1\.0/);
    expectFinding([checkNode()], 'node', 'ok', new RegExp(process.versions.node));
  });

  test('that its clock was never set', () => {
    const is = /this machine shows 1970-01-01T00:00:00Z, which is impossible/;
    expectFinding([checkClock(0)], 'clock', 'problem', is);
  });

  test('that its clock differs from the clock of another server', async () => {
    const compare = (offsetMs: number) => compareClocks('Redis', async () => Date.now() + offsetMs);
    expectFinding([await compare(900)], 'clock', 'ok', /agrees/);
    expectFinding([await compare(-10_000)], 'clock', 'warning', /10 s behind/);
    expectFinding([await compare(600_000)], 'clock', 'problem', /10 min ahead/);
  });

  test('that other users can read a file with secrets', async (t) => {
    const file = join(await makeFolder(t), 'settings.env');
    await writeFile(file, '');
    await chmod(file, 0o640);
    const isOpen = /other users have access to .* \(640\)/;
    expectFinding(await checkSecretFiles([file, '/nowhere']), 'secrets', 'warning', isOpen);
    await chmod(file, 0o600);
    expectFinding(await checkSecretFiles([file]), 'secrets', 'ok', /only the owner has access to/);
  });
});
