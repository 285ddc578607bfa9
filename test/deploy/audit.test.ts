import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startServer } from '../support/local-server.ts';
import { readToEnd } from '../support/processes.ts';
import { makeFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '../..');

/** Creates a folder with the files of the project that `.ci/audit` reads. */
async function makeProject(t: TestContext): Promise<string> {
  const folder = await makeFolder(t);
  for (const name of ['.ci', 'package.json', 'package-lock.json'])
    await cp(join(root, name), join(folder, name), { recursive: true });
  return folder;
}

/** Returns the listener of a registry that reports `weaknesses`. It returns only the name of each package. */
function answerWith(status: number, weaknesses: object = {}): RequestListener {
  return async (request, response) => {
    const { method, url = '' } = request;
    await once(request.resume(), 'end');
    const told =
      method === 'POST'
        ? weaknesses
        : { name: decodeURIComponent(url.slice(1)), 'dist-tags': {}, versions: {} };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(told));
  };
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

const knows = (name: string) => answerWith(200, { [name]: [advisory] });
const noReport: RequestListener = (request, response) =>
  request.resume().once('end', () => response.end('<html>'));

/** Runs the check for a user who has turned off npm's own audits. */
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

const skipped = (reason: string) => new RegExp(`^SKIPPED: .*\\(${reason}\\).*NOT checked`, 'm');

for (const [what, answer, expected, told] of [
  ['passes if the registry knows no vulnerability', answerWith(200), 0, /no known weakness/],
  ['fails and names a vulnerable package of the service', knows('find-my-way'), 1, /^find-my-way .*: high$/m],
  ['passes if only a development tool has a vulnerability', knows('fast-check'), 0, /no known weakness/],
  ['fails if the answer is not an audit report', noReport, 1, /./],
  ['says that it was skipped if the registry does not support audits', answerWith(405), 0, skipped('405')],
  ['says that it was skipped if the registry is unreachable', null, 0, skipped('ECONNREFUSED')],
] as readonly [string, RequestListener | null, number, RegExp][])
  test(`CI ${what}`, async (t) => {
    const registry = answer === null ? 'http://127.0.0.1:1' : await startServer(t, answer);
    const { code, output } = await runAudit(await makeProject(t), registry);
    assert.equal(code, expected, output);
    assert.match(output, told);
    if (code === 0) assert.doesNotMatch(output, /127\.0\.0\.1|https?:/);
  });

test('CI fails if the lock file cannot be read', async (t) => {
  const folder = await makeProject(t);
  await writeFile(join(folder, 'package-lock.json'), '{"packages":');
  const { code, output } = await runAudit(folder, await startServer(t, answerWith(200)));
  assert.equal(code, 1, output);
  assert.match(output, /could not be checked: .*lockfile/);
});
