import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { buildOpsServer, type ReadinessCheck } from '../../src/http/ops-server.ts';
import { createLog } from '../../src/observability/log.ts';
import { openRaw } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

const holds: ReadinessCheck = { name: 'the store', findProblem: async () => null };

async function readReadiness(
  test: TestContext,
  checks: readonly ReadinessCheck[],
  listNotes: () => readonly string[] = () => [],
) {
  const log = createLog('silent', new PassThrough());
  const server = await buildOpsServer({ checks, listNotes, log, registry: new Registry(), checkMsMax: 10 });
  test.after(() => server.close());
  const { statusCode, body } = await server.inject('/readyz');
  return { statusCode, body: JSON.parse(body) };
}

test('a process that answers is healthy', async (t) => {
  const { app } = await startService(t);
  const response = await fetch(`${app.opsUrl}/healthz`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: 'ok' });
});

test('a service whose store answers is ready', async (t) => {
  const { app } = await startService(t);
  const response = await fetch(`${app.opsUrl}/readyz`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: 'ready' });
});

test('what does not hold is told as the reason', async (t) => {
  const checks = [holds, { name: 'the counters', findProblem: async () => 'are not shared' }];
  assert.deepEqual(await readReadiness(t, checks), {
    statusCode: 503,
    body: { status: 'not ready', reason: 'the counters are not shared' },
  });
});

test('what does not keep a service from answering is noted, and leaves it ready', async (t) => {
  assert.deepEqual(await readReadiness(t, [holds], () => ['the counters: alone']), {
    statusCode: 200,
    body: { status: 'ready', notes: ['the counters: alone'] },
  });
});

test('all reasons are told together', async (t) => {
  const fails = {
    name: 'the store',
    findProblem: async () => {
      throw new Error('connection refused by 192.0.2.1');
    },
  };
  const { body } = await readReadiness(t, [
    fails,
    { name: 'the clock', findProblem: async () => 'is wrong' },
  ]);
  assert.equal(body.reason, 'the store does not answer; the clock is wrong');
});

test('a check that never ends counts as failed', async (t) => {
  const hangs = { name: 'the store', findProblem: () => new Promise<null>(() => {}) };
  assert.deepEqual(await readReadiness(t, [hangs]), {
    statusCode: 503,
    body: { status: 'not ready', reason: 'the store does not answer within 10 ms' },
  });
});

test('all else on the port of the operator is an error in JSON', async (t) => {
  const { app } = await startService(t);
  const expected = [
    ['GET', '/', 404, null],
    ['GET', '/v1/pets', 404, null],
    ['POST', '/metrics', 405, 'GET, HEAD'],
    ['DELETE', '/healthz', 405, 'GET, HEAD'],
    ['OPTIONS', '/readyz', 405, 'GET, HEAD'],
  ] as const;
  for (const [method, path, status, allowed] of expected) {
    const response = await fetch(app.opsUrl + path, { method, ...(method === 'POST' && { body: '{' }) });
    assert.equal(response.status, status, `${method} ${path}`);
    assert.equal(response.headers.get('allow'), allowed);
    assert.match(
      await response.text(),
      new RegExp(`^\\{"code":"\\w+","message":".*","status":${status}\\}$`),
    );
  }
});

test('a head that does not arrive in time is 408 and ends the connection', { timeout: 10_000 }, async (t) => {
  const server = await buildOpsServer({
    checks: [],
    log: createLog('silent', new PassThrough()),
    registry: new Registry(),
    timeouts: { headersMs: 200, requestMs: 400, keepAliveMs: 100 },
  });
  t.after(() => server.close());
  const connection = await openRaw(t, await server.listen({ host: '127.0.0.1', port: 0 }));
  connection.send('GET /healthz HTTP/1.1\r\nHost:');
  const statuses = (await connection.readAll()).map(({ status }) => status);
  assert.deepEqual(statuses, [408]);
});

test('HEAD works where GET does', async (t) => {
  const { app } = await startService(t);
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    const response = await fetch(app.opsUrl + path, { method: 'HEAD' });
    assert.equal(response.status, 200, path);
    assert.equal(await response.text(), '');
  }
});

test('nothing of it is on the public port', async (t) => {
  const { app } = await startService(t);
  for (const path of ['/healthz', '/readyz', '/metrics'])
    assert.equal((await fetch(app.url + path)).status, 404, path);
});
