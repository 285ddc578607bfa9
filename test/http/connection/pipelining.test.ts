import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { after, test } from 'node:test';
import { createConnections } from '../../../src/http/connections.ts';
import { createHttpServer, defaultTimeouts } from '../../../src/http/http-server.ts';
import { inTurn, waitingRequestsMax } from '../../../src/http/in-turn.ts';
import { createOutbox } from '../../../src/http/outbox.ts';
import { createTurns } from '../../../src/http/turns.ts';
import { expectError } from '../../support/expect-error.ts';
import { openRaw } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ after });
const key = await service.createKey();
const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`;
const get = `GET /v1/pets HTTP/1.1\r\n${head}\r\n`;
const rex = '{"name":"Rex","categoryId":1}';
const post = `POST /v1/pets HTTP/1.1\r\n${head}Content-Type: application/json\r\n`;

test('as many requests as may wait on a connection are answered, in their order', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  const paths = Array.from({ length: waitingRequestsMax + 1 }, (_, n) => `/v1/${n}`);
  connection.send(paths.map((path) => `GET ${path} HTTP/1.1\r\n${head}\r\n`).join(''));
  const remaining: number[] = [];
  for (const _ of paths) {
    const answer = await connection.read();
    assert.equal(answer.status, 404);
    remaining.push(Number(answer.headers.get('x-ratelimit-remaining')));
  }
  assert.deepEqual(
    remaining,
    remaining.map((_, n) => (remaining[0] ?? 0) - n),
  );
});

test('another client is answered while many requests of one connection wait', async (t) => {
  const [flood, other] = [await openRaw(t, service.baseUrl), await openRaw(t, service.baseUrl)];
  let isOtherAnswered = false;
  flood.send(get.repeat(waitingRequestsMax));
  await flood.read();
  other.send(get);
  const answered = other.read().then(({ status }) => {
    isOtherAnswered = true;
    return status;
  });
  let before = 1;
  for (; before < waitingRequestsMax && !isOtherAnswered; before += 1) await flood.read();
  assert.equal(await answered, 200);
  assert.ok(before < waitingRequestsMax);
});

test('a connection on which more wait is closed, and no other', async (t) => {
  const [flood, other] = [await openRaw(t, service.baseUrl), await openRaw(t, service.baseUrl)];
  // Of one reading from the socket, 64 KiB, more than may wait.
  flood.send('GET / HTTP/1.1\r\nHost:a\r\n\r\n'.repeat(2 * waitingRequestsMax));
  const answers = await flood.readAll().catch(() => []);
  assert.ok(answers.length < waitingRequestsMax);
  other.send(get);
  assert.equal((await other.read()).status, 200);
});

test('where too many wait on all connections, the one that brings more is closed, until they are answered', async (t) => {
  const held: ServerResponse[] = [];
  const connections = createConnections();
  const handle: RequestListener = (request, response) =>
    request.url === '/hold' ? held.push(response) : response.end();
  // Each takes 4,096 bytes, and of its one header the two texts, `Host` and `a`, with 48 for each.
  const bytesMax = 3 * (4_096 + 2 * 48 + 'Hosta'.length);
  const server = createHttpServer(
    inTurn(handle, { turns: createTurns(), outbox: createOutbox(), connections }, bytesMax),
    defaultTimeouts,
    connections,
  ).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

  const first = await openRaw(t, url);
  first.send(request('/hold') + request('/').repeat(3));
  while (held.length === 0) await once(server, 'request');
  const second = await openRaw(t, url);
  second.send(request('/hold') + request('/').repeat(2));
  assert.deepEqual(await second.readAll().catch(() => []), []);

  held[0]?.end();
  for (let answered = 0; answered < 4; answered += 1) assert.equal((await first.read()).status, 200);
  const third = await openRaw(t, url);
  third.send(request('/').repeat(4));
  for (let answered = 0; answered < 4; answered += 1) assert.equal((await third.read()).status, 200);
});

test('a connection whose requests are answered holds none of them', async (t) => {
  const [turns, outbox, connections] = [createTurns(), createOutbox(), createConnections()];
  const sockets = new Set<Socket>();
  const handle: RequestListener = ({ socket }, response) => {
    sockets.add(socket);
    outbox.hold();
    outbox.put(response, '');
  };
  const listener = inTurn(handle, { turns, outbox, connections });
  const server = createHttpServer(listener, defaultTimeouts, connections).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const client = await openRaw(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3));
  for (let answered = 0; answered < 3; answered += 1) await client.read();
  assert.deepEqual(
    [...sockets].map((socket) => turns.find(socket)),
    [undefined],
  );
});

test('an animal that is added behind requests that wait is there for those behind it', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  connection.send(`${get}${post}Content-Length: ${rex.length}\r\n\r\n${rex}${get}`);
  const [, added, listed] = [await connection.read(), await connection.read(), await connection.read()];
  assert.equal(added.status, 201);
  assert.deepEqual(JSON.parse(listed.body)[0], JSON.parse(added.body));
});

test('a body that breaks off behind requests that wait is told in its turn', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  connection.send(`${get.repeat(3)}${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n`);
  const answers = await connection.readAll();
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 400],
  );
  await expectError(answers[3] ?? assert.fail(), 400, 'invalid_body');
  assert.equal(answers[3]?.headers.get('x-ratelimit-limit'), '1000000');
});

test('a body that comes later than its head, behind requests that wait, is read', async (t) => {
  const connection = await openRaw(t, service.baseUrl);
  connection.send(`${get.repeat(3)}${post}Content-Length: ${rex.length}\r\n\r\n${rex.slice(0, 5)}`);
  for (let answered = 0; answered < 3; answered += 1) assert.equal((await connection.read()).status, 200);
  connection.send(rex.slice(5));
  assert.equal((await connection.read()).status, 201);
});

test('a body that came in several parts while its request waited is read to its end', async (t) => {
  const bodies = [
    [413, rex.padEnd(65_537)],
    [400, `${rex.padEnd(65_535)}x`],
    [201, rex.padEnd(65_536)],
  ] as const;
  for (const [status, body] of bodies) {
    const connection = await openRaw(t, service.baseUrl);
    connection.send(get.replace('/pets', '/none'));
    connection.send(`${post}Content-Length: ${body.length}\r\n\r\n${body}${get}`);
    const statuses = [await connection.read(), await connection.read(), await connection.read()].map(
      (answer) => answer.status,
    );
    assert.deepEqual(statuses, [404, status, 200]);
  }
});
