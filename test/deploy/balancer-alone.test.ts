import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { createServer as createSocketServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { expectErrorBody } from '../support/expect-error.ts';
import { listen } from '../support/local-server.ts';
import { startNginx, whyNoNginx } from '../support/nginx.ts';
import { testsUnless } from '../support/programs.ts';
import { exchangeRaw, openRaw, type RawResponse } from '../support/raw-http.ts';

const test = testsUnless(await whyNoNginx());
const compose = await readFile(join(import.meta.dirname, '../../deploy/compose.yaml'), 'utf8');

/** Starts nginx with the shipped configuration in front of a stub, and counts the requests that reach the stub. */
async function startBalancer(t: TestContext, changes?: Parameters<typeof startNginx>[2]) {
  let passedOn = 0;
  const instance = createServer((_request, response) => {
    passedOn += 1;
    response.end();
  });
  const { port } = await listen(t, instance);
  const nginx = await startNginx(t, [port, port, port], changes);
  return { ...nginx, instance, countPassedOn: () => passedOn };
}

test('nginx answers the health check of the balancer itself, so that no instance counts it', async (t) => {
  const { url, ownUrl, countPassedOn } = await startBalancer(t);
  const before = countPassedOn();
  const [, checked = ''] = /test: \[CMD, wget, .*'(http:.+)'\]/.exec(compose) ?? [];
  const { port, pathname } = new URL(checked);
  const response = await fetch((port === '8090' ? ownUrl : url) + pathname);
  assert.equal(response.status, 200);
  assert.equal(countPassedOn(), before);
});

/**
 * Starts nginx in front of one instance that resets each connection with a request on it, and two that answer 201 with
 * the address and body that they received. A request with `x-reset` is reset by all.
 */
async function startBesideResets(t: TestContext) {
  const resetting = createSocketServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.resetAndDestroy());
  });
  const answering = createServer(async (request, response) => {
    if (request.headers['x-reset'] !== undefined) request.socket.resetAndDestroy();
    else response.writeHead(201).end(`${request.url} ${await text(request)}`);
  });
  const { port: reset } = await listen(t, resetting);
  const { port: answer } = await listen(t, answering);
  // One worker without a memory of failures sends every request to the resetting instance first.
  return startNginx(
    t,
    [reset, answer, answer],
    [
      ['worker_processes 4;', 'worker_processes 1;'],
      ['least_conn;', ''],
      [`127.0.0.1:${reset} max_fails=2`, `127.0.0.1:${reset} weight=1000 max_fails=0`],
    ],
  );
}

test('after a reset, nginx repeats only a POST with an Idempotency-Key at another instance', async (t) => {
  const { url } = await startBesideResets(t);
  const post = (headers: Record<string, string>) =>
    fetch(`${url}/v1//pets?a=%2F`, { method: 'POST', body: '{"name":"Rex"}', headers });
  const repeated = await post({ 'idempotency-key': 'a' });
  assert.equal(repeated.status, 201);
  assert.equal(await repeated.text(), '/v1//pets?a=%2F {"name":"Rex"}');
  for (const headers of [{}, { 'idempotency-key': 'b', 'x-reset': '1' }]) {
    const refused = await post(headers);
    assert.equal(refused.headers.get('retry-after'), '1');
    await expectErrorBody(refused, 503, 'unavailable');
  }
});

test('nginx passes on HTTP/1.0 without a Host and refuses an unknown transfer encoding', async (t) => {
  const { url } = await startBalancer(t);
  const [passedOn] = await exchangeRaw(t, url, 'GET /v1/pets HTTP/1.0\r\n\r\n');
  assert.equal(passedOn?.status, 200);
  const head =
    'POST /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: gzip, chunked\r\n\r\n';
  const [response = assert.fail()] = await exchangeRaw(t, url, head);
  await expectErrorBody(response, 400, 'invalid_parameter');
});

test('nginx forwards a POST before its body is complete, so that the timeout of the instance applies', async (t) => {
  const { url, instance } = await startBalancer(t);
  for (const headers of [{}, { 'idempotency-key': 'a' }]) {
    const arrived = once(instance, 'request');
    const init = { method: 'POST', headers: { ...headers, 'content-length': 1_000 } };
    const asking = request(`${url}/v1/pets`, init).on('error', () => undefined);
    t.after(() => asking.destroy());
    asking.write('{');
    const [{ complete }] = await arrived;
    assert.equal(complete, false);
  }
});

test('nginx answers 503 with Retry-After if it has no connection left for an instance', async (t) => {
  const { url } = await startBalancer(t, [
    ['worker_processes 4;', 'worker_processes 1;'],
    ['worker_connections 4096;', 'worker_connections 16;'],
    // Each request uses two connections. Without keepalive, nginx frees both.
    ['keepalive 64;', ''],
  ]);
  let response: RawResponse | undefined;
  do {
    (await openRaw(t, url)).send('GET /v1/pets');
    [response] = await exchangeRaw(t, url, 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  } while (response?.status === 200);
  assert.equal(response?.headers.get('retry-after'), '1');
  await expectErrorBody(response, 503, 'unavailable');
});
