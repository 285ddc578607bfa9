import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { connectionsPerTurn, createConnections } from '../../../src/http/connections.ts';
import { createHttpServer, defaultTimeouts } from '../../../src/http/http-server.ts';
import { inTurn, throngMsMax } from '../../../src/http/in-turn.ts';
import { createOutbox } from '../../../src/http/outbox.ts';
import { arrivedPerTurn, shortTurnMs } from '../../../src/http/rota.ts';
import { createTurns } from '../../../src/http/turns.ts';
import { openRaw, type RawConnection } from '../../support/raw-http.ts';

const crowd = 12;
const request = (path: string, headers = 0) => {
  const more = Array.from({ length: headers }, (_, number) => `X${number}: y\r\n`);
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n${more.join('')}\r\n`;
};

/** A server with all that keeps crowds from holding others up, behind a door that collects who comes. */
async function startServer(t: TestContext, handle: RequestListener) {
  const connections = createConnections();
  const server = createHttpServer(
    inTurn(handle, { turns: createTurns(), outbox: createOutbox(), connections }),
    defaultTimeouts,
    connections,
  );
  const waiting: Socket[] = [];
  const door = createNetServer({ pauseOnConnect: true }, (socket) => waiting.push(socket));
  door.listen(0, '127.0.0.1');
  await once(door, 'listening');
  t.after(() => {
    server.closeAllConnections();
    door.close();
  });
  const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;

  /** Lets so many in at once. */
  async function letIn(count: number): Promise<void> {
    while (waiting.length < count) await once(door, 'connection');
    for (const socket of waiting.splice(0)) server.emit('connection', socket);
  }

  return { server, url, letIn };
}

/** Counts what happens in each turn of the event loop. */
function countInTurns() {
  const turns = [0];
  return {
    note(): void {
      if (turns.at(-1) === 0) setImmediate(() => turns.push(0));
      turns.push((turns.pop() ?? 0) + 1);
    },
    most: () => Math.max(...turns),
  };
}

/** Keeps the thread busy for longer than a short turn takes. */
function work(ms = shortTurnMs): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

function openCrowd(t: TestContext, url: string): Promise<RawConnection[]> {
  return Promise.all(Array.from({ length: crowd }, () => openRaw(t, url)));
}

async function expectAnswers(connections: readonly RawConnection[], count: number): Promise<void> {
  for (const connection of connections)
    for (let number = 0; number < count; number += 1) assert.equal((await connection.read()).status, 200);
}

async function untilHeld(server: Server, held: readonly unknown[], count: number): Promise<void> {
  while (held.length < count) await once(server, 'request');
}

test('of a crowd that comes at once a few are read in a turn, and all are answered', async (t) => {
  const turns = countInTurns();
  const { url, letIn } = await startServer(t, (_request, response) => {
    turns.note();
    work();
    response.end();
  });
  const connections = await openCrowd(t, url);
  for (const connection of connections) connection.send(request('/'));
  await letIn(crowd);
  await expectAnswers(connections, 1);
  assert.ok(turns.most() <= arrivedPerTurn, String(turns.most()));
});

test('of connections on which requests waited a few are read on in a turn', async (t) => {
  const turns = countInTurns();
  const held: ServerResponse[] = [];
  const { server, url, letIn } = await startServer(t, ({ url: path }, response) => {
    if (path === '/later') {
      turns.note();
      work();
    }
    if (path === '/held') held.push(response);
    else response.end();
  });
  const connections = await openCrowd(t, url);
  await letIn(crowd);
  for (const connection of connections) connection.send(request('/held') + request('/'));
  await untilHeld(server, held, crowd);
  for (const connection of connections) connection.send(request('/later'));
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const response of held) response.end();
  await expectAnswers(connections, 3);
  assert.ok(turns.most() <= connectionsPerTurn.least, String(turns.most()));
});

// In the midst of a head with more than 32 headers Node runs what ends the answer before it.
for (const headers of [0, 90])
  test(`of pipelined requests with ${headers + 1} headers one is answered in the turn in which they come`, async (t) => {
    const turns = countInTurns();
    const { url, letIn } = await startServer(t, (_request, response) => {
      turns.note();
      response.end();
    });
    const connection = await openRaw(t, url);
    await letIn(1);
    connection.send(request('/', headers).repeat(20));
    await expectAnswers([connection], 20);
    assert.equal(turns.most(), 1);
  });

test('once throngs have taken too much of a turn, connections that are not read yet are read in later ones', async (t) => {
  const turns = countInTurns();
  const { url, letIn } = await startServer(t, ({ url: path }, response) => {
    if (path === '/plain') turns.note();
    work(path === '/long' ? 2 * throngMsMax : 0);
    response.end();
  });
  const connections = await openCrowd(t, url);
  await letIn(crowd);
  for (const connection of connections) {
    connection.send(request('/first'));
    assert.equal((await connection.read()).status, 200);
  }
  // The first throng of a turn begins to count, the next one finds that it has become too long.
  const [first = assert.fail(), slow = assert.fail(), second = assert.fail(), ...others] = connections;
  first.send(request('/') + request('/'));
  slow.send(request('/long'));
  second.send(request('/') + request('/'));
  for (const connection of others) connection.send(request('/plain'));
  await expectAnswers([first, second], 2);
  await expectAnswers([slow, ...others], 1);
  assert.ok(turns.most() < others.length, String(turns.most()));
});

test('a request whose turn is next goes with its connection', async (t) => {
  const paths: string[] = [];
  const { url, letIn } = await startServer(t, ({ url: path = '', socket }, response) => {
    paths.push(path);
    response.end();
    if (path === '/last')
      setImmediate(() => {
        socket.destroy();
        // Who waits gives way to whoever arrives, so the end of the connection comes first.
        void letIn(1);
      });
  });
  const [gone, stays] = [await openRaw(t, url), await openRaw(t, url)];
  await letIn(2);
  const late = await openRaw(t, url);
  gone.send(request('/last', 90) + request('/never', 90));
  late.send(request('/late'));
  await expectAnswers([late], 1);
  stays.send(request('/other'));
  await expectAnswers([stays], 1);
  assert.deepEqual(paths, ['/last', '/late', '/other']);
});

/** Opens connections and sends a request on each; sets `done[0]` once all has gone to the system. */
const callers = `
  const { connect } = require('node:net');
  const { workerData: { port, count, text, done } } = require('node:worker_threads');
  let sent = 0;
  for (let number = 0; number < count; number += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(text, () => {
      sent += 1;
      if (sent < count) return;
      Atomics.store(done, 0, 1);
      Atomics.notify(done, 0);
    });
  }
`;

test('a crowd at the door is let in before anyone of it is read', async (t) => {
  const seen: string[] = [];
  const connections = createConnections();
  const handle: RequestListener = (_request, response) => {
    seen.push('request');
    response.end();
  };
  const server = createHttpServer(
    inTurn(handle, { turns: createTurns(), outbox: createOutbox(), connections }),
    defaultTimeouts,
    connections,
  );
  server.on('connection', () => seen.push('connection'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // What has never run may take longer than tasks give way.
  const early = await openRaw(t, `http://127.0.0.1:${port}`);
  early.send(request('/'));
  await expectAnswers([early], 1);
  seen.length = 0;
  const done = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(callers, {
    eval: true,
    workerData: { port, count: crowd, text: request('/'), done },
  });
  t.after(async () => {
    await worker.terminate();
    server.closeAllConnections();
    server.close();
  });
  await once(worker, 'online');
  assert.notEqual(Atomics.wait(done, 0, 0, 10_000), 'timed-out');
  while (seen.length < 2 * crowd) await once(server, 'request');
  const firstRequest = seen.indexOf('request');
  assert.deepEqual(
    seen.slice(0, firstRequest),
    Array.from({ length: crowd }, () => 'connection'),
  );
});
