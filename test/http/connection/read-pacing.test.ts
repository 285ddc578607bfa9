import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  arrivalTurns,
  requestsBesideArrivals,
  watchArrivals,
} from '../../../src/http/connection/arrivals.ts';
import { defaultTimeouts } from '../../../src/http/connection/bounds.ts';
import { createInFlight } from '../../../src/http/connection/in-flight.ts';
import { createNodeServer } from '../../../src/http/connection/node-server.ts';
import { handleInOrder, requestsPerTurn } from '../../../src/http/connection/pipelining.ts';
import {
  connectionsPerTurn,
  createReadPacing,
  turnMsMax,
  unreadBodiesPerTurn,
} from '../../../src/http/connection/read-pacing.ts';
import { until } from '../../support/processes.ts';
import { openRaw, type RawConnection } from '../../support/raw-http.ts';

const crowd = 3 * connectionsPerTurn;
const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;

/** Starts a server that runs `handle` with only the order and pacing of requests, and connects `clients` clients. */
async function startServer(t: TestContext, handle: RequestListener, clients = crowd) {
  const server = createNodeServer((...exchange) => inOrder(...exchange), defaultTimeouts);
  const inOrder = handleInOrder(handle, createInFlight(), createReadPacing(server), watchArrivals(server));
  server.listen(0, '127.0.0.1');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connections = await Promise.all(Array.from({ length: clients }, () => openRaw(t, url)));
  return { server, url, connections };
}

/** Counts calls of `note` in each event loop turn. It must start before the server, so that its immediate runs first. */
function countInTurns(t: TestContext) {
  let [count, most] = [0, 0];
  let turn = setImmediate(endTurn);
  t.after(() => clearImmediate(turn));

  function endTurn(): void {
    count = 0;
    turn = setImmediate(endTurn);
  }

  return {
    note(): void {
      count += 1;
      most = Math.max(most, count);
    },
    most: () => most,
    restart(): void {
      most = 0;
    },
  };
}

async function expectAnswers(connections: readonly RawConnection[], count: number): Promise<void> {
  for (const connection of connections)
    for (let number = 0; number < count; number += 1) assert.equal((await connection.read()).status, 200);
}

test('each event loop turn resumes only a bounded number of paused connections', async (t) => {
  const turns = countInTurns(t);
  const held: ServerResponse[] = [];
  const sockets = new Set<Socket>();
  const { server, connections } = await startServer(t, ({ url, socket }, response) => {
    sockets.add(socket);
    if (url === '/held') held.push(response);
    else response.end();
  });
  for (const connection of connections) connection.send(request('/held') + request('/'));
  while (held.length < crowd) await once(server, 'request');
  for (const socket of sockets) socket.on('resume', turns.note);
  for (const response of held) response.end();
  await expectAnswers(connections, 2);
  for (const connection of connections) connection.send(request('/later'));
  await expectAnswers(connections, 1);
  assert.equal(turns.most(), connectionsPerTurn);
});

test('connections that are not read yet wait for the next turn if pipelined requests make a turn long', async (t) => {
  const turns = countInTurns(t);
  const { connections } = await startServer(t, ({ url }, response) => {
    if (url === '/plain') turns.note();
    const endMs = performance.now() + 2 * turnMsMax;
    while (url === '/long' && performance.now() < endMs);
    response.end();
  });
  for (const connection of connections) connection.send(request('/first'));
  await expectAnswers(connections, 1);
  // The first pipelined request starts the time of the turn. The next pipelined request finds that the turn is too long.
  const [first = assert.fail(), slow = assert.fail(), second = assert.fail(), ...others] = connections;
  first.send(request('/') + request('/'));
  slow.send(request('/long'));
  second.send(request('/') + request('/'));
  for (const connection of others) connection.send(request('/plain'));
  await expectAnswers([first, second], 2);
  await expectAnswers([slow, ...others], 1);
  assert.ok(turns.most() < others.length, String(turns.most()));
});

test('each event loop turn reads only a bounded number of connections whose body nobody reads', async (t) => {
  const readBytes = 2 ** 16;
  const turns = countInTurns(t);
  let read = 0;
  const handle: RequestListener = (request, response) => {
    let before = 0;
    request.on('data', () => {
      const { bytesRead } = request.socket;
      if (bytesRead === before) return;
      // The first read returns the head, too, so the service cannot know the body before this read.
      if (before > 0) turns.note();
      read += bytesRead - before;
      before = bytesRead;
    });
    response.end();
  };
  const { connections } = await startServer(t, handle);
  const head = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  const text = head + '1\r\na\r\n'.repeat(readBytes / 2);
  for (const connection of connections) connection.send(text);
  await until(
    async () => read,
    (bytes) => bytes === connections.length * text.length,
    60_000,
  );
  assert.equal(turns.most(), unreadBodiesPerTurn);
});

test('while connections arrive, each event loop turn handles a bounded number of requests, and all are answered', async (t) => {
  const most = requestsBesideArrivals + requestsPerTurn;
  const turns = countInTurns(t);
  const note: RequestListener = (_request, response) => {
    turns.note();
    response.end();
  };
  const { url, connections } = await startServer(t, note, 2 * most);
  const askAll = async () => {
    for (const connection of connections) connection.send(request('/'));
    await expectAnswers(connections, 1);
  };
  // The answers prove that all connections were accepted. After `arrivalTurns` turns, the server expects no more.
  await askAll();
  for (let turn = 0; turn <= arrivalTurns; turn += 1) await nextTurn();
  turns.restart();
  await askAll();
  assert.ok(turns.most() > most, String(turns.most()));
  turns.restart();
  await openRaw(t, url);
  await askAll();
  assert.ok(turns.most() <= most, String(turns.most()));
});
