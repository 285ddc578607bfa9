import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { after, type TestContext, test } from 'node:test';
import { defaultTimeouts, lingerBytesMax } from '../../../src/http/connection/bounds.ts';
import {
  type ConnectionsOptions,
  createConnections,
  waitingRequestsMax,
} from '../../../src/http/connection/connections.ts';
import { createNodeServer } from '../../../src/http/connection/node-server.ts';
import { type Exchange, openExchange } from '../../../src/http/exchange.ts';
import type { Pipeline } from '../../../src/http/pipeline.ts';
import { createRouter } from '../../../src/http/router.ts';
import { findPostgres, sqliteEngine } from '../../support/engines.ts';
import { expectError } from '../../support/expect-error.ts';
import { listen } from '../../support/local-server.ts';
import { exchangeRaw, expectStatuses, formatHeads, openRaw, rexText as rex } from '../../support/raw-http.ts';
import { eventually } from '../../support/redis-server.ts';
import { startWithKey } from '../../support/service.ts';
import { startOn } from '../engine-service.ts';

// Everything that is awaited comes first: the runner ends the file's hooks once no test is left.
const postgres = await findPostgres();
const { service, key } = await startWithKey({ after });
const { get: head, post } = formatHeads(key);
const get = `${head}\r\n`;

test('waitingRequestsMax pipelined requests on a connection are answered in order', async (t) => {
  const connection = await openRaw(t, service.baseUrl, get.repeat(waitingRequestsMax + 1));
  for (let remaining = 999_999; remaining >= 999_999 - waitingRequestsMax; remaining -= 1) {
    const { status, headers } = await connection.read();
    assert.deepEqual([status, headers.get('x-ratelimit-remaining')], [200, String(remaining)]);
  }
});

test('only the connection whose waiting requests exceed the bound is closed', async (t) => {
  const [flood, other] = [await openRaw(t, service.baseUrl), await openRaw(t, service.baseUrl)];
  // A single 64 KiB read from the socket has more requests than may wait.
  flood.send('GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(2 * waitingRequestsMax));
  const answers = await flood.readAll().catch(() => []);
  assert.ok(answers.length < waitingRequestsMax);
  other.send(get);
  assert.equal((await other.read()).status, 200);
});

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Starts a server whose connections run `handle`, without the rest of the service. */
async function startServer(
  t: TestContext,
  handle: (exchange: Exchange) => void,
  options?: ConnectionsOptions,
) {
  const server = createNodeServer(defaultTimeouts, 100);
  const router = createRouter([]);
  const open: Pipeline['open'] = (received, response) =>
    openExchange(received, response, '', router.find('GET', received.url ?? ''));
  const connections = createConnections(server, { open, run: handle }, options);
  server.on('request', (received, response) => connections.receive(received, response));
  return { server, connections, url: (await listen(t, server)).origin };
}

test('a new request closes its connection while too many requests wait', async (t) => {
  const held: ServerResponse[] = [];
  const handle = ({ request: { url }, response }: Exchange) =>
    url === '/hold' ? held.push(response) : response.end();
  const { url } = await startServer(t, handle, { allWaitingMax: 3 });

  const first = await openRaw(t, url, request('/hold') + request('/').repeat(3));
  await eventually(async () => held.length === 1);
  const second = await openRaw(t, url, request('/hold') + request('/').repeat(2));
  assert.deepEqual(await second.readAll().catch(() => []), []);

  held[0]?.end();
  for (let answered = 0; answered < 4; answered += 1) assert.equal((await first.read()).status, 200);
  const third = await openRaw(t, url, request('/').repeat(4));
  for (let answered = 0; answered < 4; answered += 1) assert.equal((await third.read()).status, 200);
});

test('a pipelined request of a closed connection is not handled', async (t) => {
  const paths: string[] = [];
  const { url } = await startServer(t, ({ request: { url: path = '', socket }, response }) => {
    paths.push(path);
    if (path === '/last') socket.destroy();
    else response.end();
  });
  const [gone, other] = [await openRaw(t, url), await openRaw(t, url)];
  gone.send(request('/first') + request('/last') + request('/never'));
  await gone.readAll().catch(() => []);
  other.send(request('/other'));
  assert.equal((await other.read()).status, 200);
  assert.deepEqual(paths, ['/first', '/last', '/other']);
});

test('a request that arrives after the last one of its connection is not handled', async (t) => {
  const held: Exchange[] = [];
  const { server, connections, url } = await startServer(t, (exchange) => held.push(exchange));
  const connection = await openRaw(t, url, request('/hold'));
  await eventually(async () => held.length === 1);
  const first = held[0] ?? assert.fail();
  connections.afterAll(first.request.socket, () => first.request.socket.end());
  connection.send(request('/late'));
  await once(server, 'request');
  first.response.end();
  expectStatuses([await connection.read()], 200);
  assert.deepEqual(await connection.readAll(), []);
  assert.equal(held.length, 1);
});

// Without the bound, Node closes the connection after 30 s.
test('the rest of a body that nobody reads is read up to a bound before the connection is closed', {
  timeout: 20_000,
}, async (t) => {
  await service.request(key, '/pets');
  const length = 8 * lingerBytesMax;
  const framings = [`Content-Length: ${length}\r\n`, 'Transfer-Encoding: chunked\r\n'];
  const heads = { 200: head, 401: 'POST /v1/pets HTTP/1.1\r\nHost: a\r\n', 413: post };
  const send = async (status: string, text: string) => {
    const start = `${text}\r\n${length.toString(16)}\r\n${'a'.repeat(2 * lingerBytesMax)}`;
    const connection = await openRaw(t, service.baseUrl, start);
    assert.equal(String((await connection.read()).status), status);
    assert.deepEqual(await connection.readAll().catch(() => []), []);
  };
  const cases = Object.entries(heads).flatMap(([status, text]) =>
    framings.map((framing) => send(status, text + framing)),
  );
  await Promise.all(cases);
});

for (const engine of [sqliteEngine, postgres])
  test(`${engine.name}: each of several pipelined reads and adds sees the effects of the earlier ones`, {
    skip: engine.skip,
  }, async (t) => {
    const { service: own, key: ownKey } = await startOn(t, engine);
    const { get: ownHead, add } = formatHeads(ownKey);
    const read = (path: string) => `${ownHead.replace('/pets', path)}\r\n`;
    const texts = [read('/pets/6'), add, read('/pets/6'), add, add, read('/pets?limit=1'), read('/pets/9')];
    const connection = await openRaw(t, own.baseUrl, texts.join(''));
    for (const expected of ['404 ', '201 6', '200 6', '201 7', '201 8', '200 8', '404 ']) {
      const { status, body } = await connection.read();
      assert.equal(`${status} ${/"id":(\d+)/.exec(body)?.[1] ?? ''}`, expected);
    }
  });

test('a request whose body breaks off after pipelined requests is answered in order', async (t) => {
  const text = `${get.repeat(3)}${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n`;
  const answers = await exchangeRaw(t, service.baseUrl, text);
  expectStatuses(answers, 200, 200, 200, 400);
  const headers = { 'x-ratelimit-limit': '1000000' };
  await expectError(answers[3] ?? assert.fail(), 400, 'invalid_body', headers);
});

test('a body that arrives in parts while its request waits is read completely', async (t) => {
  for (const [status, body] of [
    [413, rex.padEnd(65_537)],
    [400, `${rex.padEnd(65_535)}x`],
    [201, rex.padEnd(65_536)],
  ] as const) {
    const connection = await openRaw(t, service.baseUrl, get.replace('/pets', '/none'));
    connection.send(`${post}Content-Length: ${body.length}\r\n\r\n${body}${get}`);
    const answers = [await connection.read(), await connection.read(), await connection.read()];
    expectStatuses(answers, 404, status, 200);
  }
});
