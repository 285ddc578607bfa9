import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readToEnd } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');

/** A folder like the project's, as far as `.ci/audit` looks at it. */
async function makeProject(t: TestContext): Promise<string> {
  const folder = await makeFolder(t);
  for (const name of ['.ci', 'package.json', 'package-lock.json'])
    await cp(join(root, name), join(folder, name), { recursive: true });
  return folder;
}

/** A registry of the test's own; gives its address. */
async function startRegistry(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => answer(request, response));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** One that knows of weaknesses, and of each package no more than its name. */
function answerWith(status: number, weaknesses: object = {}): RequestListener {
  return ({ method, url = '' }, response) => {
    const told =
      method === 'POST'
        ? weaknesses
        : { name: decodeURIComponent(url.slice(1)), 'dist-tags': {}, versions: {} };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(told));
  };
}

/** Runs the check, for somebody who has turned npm's own audits off. */
async function runAudit(folder: string, registry: string) {
  const child = spawn(join(folder, '.ci/audit'), {
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      npm_config_audit: 'false',
      npm_config_registry: registry,
      npm_config_fetch_retries: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { code, stdout, stderr } = await readToEnd(child);
  return { code, output: stdout + stderr };
}

const advisory = {
  id: 1,
  url: 'https://example.com/advisory',
  title: 'A weakness',
  severity: 'high',
  vulnerable_versions: '*',
  cwe: [],
  cvss: { score: 0, vectorString: null },
};

test('CI passes where the registry knows no weakness of what the service runs with', async (t) => {
  const { code, output } = await runAudit(await makeProject(t), await startRegistry(t, answerWith(200)));
  assert.equal(code, 0, output);
  assert.match(output, /no known weakness/);
});

test('CI fails where the registry knows one, and names the package', async (t) => {
  const registry = await startRegistry(t, answerWith(200, { 'find-my-way': [advisory] }));
  const { code, output } = await runAudit(await makeProject(t), registry);
  assert.equal(code, 1, output);
  assert.match(output, /^find-my-way .*: high$/m);
});

test('CI does not fail for a weakness of a tool that is not shipped', async (t) => {
  const registry = await startRegistry(t, answerWith(200, { 'fast-check': [advisory] }));
  const { code, output } = await runAudit(await makeProject(t), registry);
  assert.equal(code, 0, output);
  assert.match(output, /no known weakness/);
});

const silences: readonly (readonly [what: string, answer: RequestListener | null, reason: RegExp])[] = [
  ['does not know the question', answerWith(405), /405/],
  ['fails at it', answerWith(500), /500/],
  ['breaks off', ({ socket }) => void socket.resetAndDestroy(), /ECONNRESET/],
  ['is not there', null, /ECONNREFUSED/],
];

for (const [what, answer, reason] of silences)
  test(`CI says loudly that nothing was checked where the registry ${what}, and does not name it`, async (t) => {
    const registry = answer === null ? 'http://127.0.0.1:1/' : await startRegistry(t, answer);
    const { code, output } = await runAudit(await makeProject(t), registry);
    assert.equal(code, 0, output);
    assert.match(output, /SKIPPED: .*NOT checked/);
    assert.match(output, reason);
    assert.doesNotMatch(output, /127\.0\.0\.1|https?:/);
  });

test('CI fails where the lock file cannot be read', async (t) => {
  const folder = await makeProject(t);
  await writeFile(join(folder, 'package-lock.json'), '{"packages":');
  const { code, output } = await runAudit(folder, await startRegistry(t, answerWith(200)));
  assert.equal(code, 1, output);
  assert.match(output, /could not be checked: .*lockfile/);
});

test('CI fails where what the registry answers is no report', async (t) => {
  const registry = await startRegistry(t, (_request, response) => response.end('<html>'));
  const { code, output } = await runAudit(await makeProject(t), registry);
  assert.equal(code, 1, output);
});
