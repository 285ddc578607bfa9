import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { makeFolder } from '../support/service.ts';

const audit = join(import.meta.dirname, '../../.ci/audit');

const fastify = {
  name: 'fastify',
  'dist-tags': { latest: manifest.dependencies.fastify },
  versions: { [manifest.dependencies.fastify]: { name: 'fastify', version: manifest.dependencies.fastify } },
};

/** Runs the check against a registry of the test's own. */
async function runAudit(t: TestContext, status: number, advisories: object) {
  const registry = createServer((request, response) => {
    request.resume();
    const body = request.method === 'POST' ? advisories : fastify;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  registry.listen(0, '127.0.0.1');
  await once(registry, 'listening');
  t.after(() => registry.close());
  const { port } = registry.address() as AddressInfo;
  const environment = {
    PATH: process.env['PATH'],
    HOME: await makeFolder(t),
    npm_config_registry: `http://127.0.0.1:${port}/`,
    npm_config_fetch_retries: '0',
  };
  const child = execFile(audit, { env: environment });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text) => {
      output += text;
    });
  const [code] = await once(child, 'close');
  return { code, output };
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
  const { code, output } = await runAudit(t, 200, {});
  assert.equal(code, 0, output);
  assert.match(output, /no known weakness/);
});

test('CI fails where the registry knows one, and names the package', async (t) => {
  const { code, output } = await runAudit(t, 200, { fastify: [advisory] });
  assert.equal(code, 1, output);
  assert.match(output, /^fastify .*: high$/m);
});

test('CI does not fail for a weakness of a tool that is not shipped', async (t) => {
  const { code, output } = await runAudit(t, 200, { 'fast-check': [advisory] });
  assert.equal(code, 0, output);
});

test('CI says loudly that nothing was checked where the registry does not answer, and does not name it', async (t) => {
  const { code, output } = await runAudit(t, 405, {});
  assert.equal(code, 0, output);
  assert.match(output, /SKIPPED: .*NOT checked/);
  assert.doesNotMatch(output, /127\.0\.0\.1|https?:/);
});
