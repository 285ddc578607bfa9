import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Registry } from 'prom-client';
import {
  defaultTimeouts,
  headerBytesMax,
  headersMax,
  operatorConnectionsMax,
} from '../../src/http/connection/bounds.ts';
import { createLog } from '../../src/observability/log.ts';
import { type Checks, findProblems } from '../../src/operator/health.ts';
import { buildOperatorServer } from '../../src/operator/operator-server.ts';
import { exchangeRaw, openRaw } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';

const { app } = await startService({ after });

const holds = async () => null;

/** Starts an operator server. Returns the server and its address. */
async function startOperator(t: TestContext, checks: Checks = {}, notes: readonly string[] = []) {
  const readHealth = async () => ({ problems: await findProblems(checks, 10), notes });
  const log = createLog('silent', new PassThrough());
  const service = buildOperatorServer({ readHealth, log, registry: new Registry() });
  t.after(() => service.close(0));
  return { service, url: await service.listen('127.0.0.1', 0) };
}

async function readReadiness(t: TestContext, checks: Checks, notes: readonly string[] = []) {
  const { url } = await startOperator(t, checks, notes);
  const response = await fetch(`${url}/readyz`);
  return { status: response.status, body: (await response.json()) as { readonly reason?: string } };
}

test('GET and HEAD of /healthz, /readyz and /metrics get 200 while the service runs', async () => {
  for (const [path, body] of [
    ['/healthz', { status: 'ok' }],
    ['/readyz', { status: 'ready' }],
    ['/metrics', null],
  ] as const) {
    const response = await fetch(app.opsUrl + path);
    assert.equal(response.status, 200, path);
    if (body !== null) assert.deepEqual(await response.json(), body);
    const head = await fetch(app.opsUrl + path, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, ''], path);
  }
});

test('the public port has no page of the operator', async () => {
  const consolePaths = ['/console', '/console/', '/console/assets/1/main.ts', '/console/api/session'];
  for (const path of ['/healthz', '/readyz', '/metrics', ...consolePaths])
    assert.equal((await fetch(app.url + path)).status, 404, path);
});

test('/readyz gets 200 with its notes if all checks hold', async (t) => {
  assert.deepEqual(await readReadiness(t, { 'the store': holds }, ['the counters: alone']), {
    status: 200,
    body: { status: 'ready', notes: ['the counters: alone'] },
  });
});

test('/readyz gets 503 with the problem of each check that fails, throws or times out', async (t) => {
  const throws = async () => {
    throw new Error('connection refused by 192.0.2.1');
  };
  const checks = {
    'the service': holds,
    'the store': throws,
    'the counters': async () => 'are not shared',
    'the queue': () => new Promise<null>(() => {}),
  };
  assert.deepEqual(await readReadiness(t, checks), {
    status: 503,
    body: {
      status: 'not ready',
      reason:
        'the store does not answer; the counters are not shared; the queue does not answer within 10 ms',
    },
  });
});

test("every other request to the operator's port gets an Error", async () => {
  const expected = [
    ['GET', '/', 404, null, 'no such endpoint'],
    ['GET', '/v1/pets', 404, null, 'no such endpoint'],
    ['POST', '/metrics', 405, 'GET, HEAD', 'POST is not allowed here; allowed: GET, HEAD'],
    ['DELETE', '/healthz', 405, 'GET, HEAD', 'DELETE is not allowed here; allowed: GET, HEAD'],
    ['OPTIONS', '/readyz', 405, 'GET, HEAD', 'OPTIONS is not allowed here; allowed: GET, HEAD'],
  ] as const;
  for (const [method, path, status, allowed, message] of expected) {
    const response = await fetch(app.opsUrl + path, { method, ...(method === 'POST' && { body: '{' }) });
    assert.equal(response.status, status, `${method} ${path}`);
    assert.equal(response.headers.get('allow'), allowed);
    const code = status === 404 ? 'not_found' : 'method_not_allowed';
    assert.equal(await response.text(), JSON.stringify({ code, message, status }));
    for (const name of ['x-ratelimit-limit', 'link']) assert.equal(response.headers.get(name), null);
  }
});

test("the operator's port closes the connection of a malformed request", async (t) => {
  const { url } = await startOperator(t);
  for (const [text, status, code] of [
    ['garbage\r\n\r\n', 400, 'invalid_parameter'],
    [`GET /healthz HTTP/1.1\r\nX: ${'a'.repeat(headerBytesMax)}\r\n\r\n`, 431, 'headers_too_large'],
    [`GET /healthz HTTP/1.1\r\n${'X:\r\n'.repeat(headersMax + 1)}\r\n`, 431, 'headers_too_large'],
    ['CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
  ] as const) {
    const [answer = assert.fail(), ...others] = await exchangeRaw(t, url, text);
    assert.deepEqual([answer.status, answer.headers.get('connection'), others], [status, 'close', []]);
    assert.equal(JSON.parse(answer.body).code, code);
  }
});

test("the operator's port has the timeouts of the public port and its own bound of connections", async (t) => {
  const { service } = await startOperator(t);
  const { headersMs, requestMs, keepAliveMs } = defaultTimeouts;
  const { headersTimeout, requestTimeout, keepAliveTimeout, maxConnections } = service.server;
  assert.deepEqual([headersTimeout, requestTimeout, keepAliveTimeout], [headersMs, requestMs, keepAliveMs]);
  assert.equal(maxConnections, operatorConnectionsMax);
});

test('a console request whose body breaks off gets a 400 response', async (t) => {
  const { host } = new URL(app.opsUrl);
  const head = `POST /console/api/sign-in HTTP/1.1\r\nHost: ${host}\r\nOrigin: http://${host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const connection = await openRaw(t, app.opsUrl);
  connection.send(`${head}2\r\n{"\r\n`);
  // The gate has decided on the request before the rest of the body arrives.
  await pause(50);
  connection.send('no size\r\n');
  const [response, ...others] = await connection.readAll();
  assert.deepEqual([response?.status, others], [400, []]);
  assert.match(response?.body ?? '', /"code":"invalid_body"/);
});
