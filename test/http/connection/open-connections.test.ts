import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { hourMs, minuteMs } from '../../../src/clock.ts';
import { defaultTimeouts } from '../../../src/http/connection/bounds.ts';
import { waitingRequestsMax } from '../../../src/http/connection/connections.ts';
import { createNodeServer, watchRefusedConnections } from '../../../src/http/connection/node-server.ts';
import { createLog } from '../../../src/observability/log.ts';
import { importPets } from '../../support/catalogue.ts';
import { listen } from '../../support/local-server.ts';
import { formatHeads } from '../../support/raw-http.ts';
import { createMovableClock } from '../../support/service.ts';
import { startBuiltServer } from '../built-server.ts';

const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

function open(t: TestContext, port: string): Socket {
  const socket = connect({ host: '127.0.0.1', port: Number(port) });
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  return socket;
}

test('a connection beyond the bound is closed immediately without harm to the others', async (t) => {
  const server = createNodeServer(defaultTimeouts, 2);
  server.on('request', (_, response) => response.end('answered'));
  const { port } = await listen(t, server);
  const taken = [open(t, port), open(t, port)];
  await Promise.all(taken.map((socket) => once(socket, 'connect')));
  const tooMany = open(t, port);
  tooMany.resume();
  await once(tooMany, 'close');
  for (const socket of taken) {
    socket.write(get);
    assert.match(String(await once(socket, 'data')), /answered/);
  }
});

/** Watches the refused connections of a server. Returns a function that refuses `count` connections. */
function startWatch() {
  const clock = createMovableClock();
  const [server, registry, lines] = [createServer(), new Registry(), new PassThrough()];
  const log = createLog('info', lines);
  watchRefusedConnections(server, registry, clock.now, log);
  const drop = (count: number) => {
    for (let left = count; left > 0; left -= 1) server.emit('drop');
  };
  return { clock, registry, log, lines, drop };
}

test('refused connections are counted', async () => {
  const { registry, drop } = startWatch();
  drop(5);
  assert.match(await registry.metrics(), /^animal_store_connections_refused_total 5$/m);
});

test('refused connections are logged at most once a minute with their number', () => {
  const { clock, log, lines, drop } = startWatch();
  drop(3);
  clock.advance(minuteMs);
  drop(1);
  clock.advance(minuteMs - 1);
  drop(1);
  log.flush();
  assert.deepEqual(String(lines.read()).match(/(?<="refused":)\d+/g), ['1', '3']);
});

const longBody = Buffer.alloc(32 * 2 ** 20, 'x');

test('a client is disconnected only if it reads nothing of its answer', async (t) => {
  const timeouts = { ...defaultTimeouts, headersMs: hourMs, requestMs: hourMs, untakenMs: 500 };
  const server = createNodeServer(timeouts, 10);
  server.on('request', (_, response) => response.end(longBody));
  const { port } = await listen(t, server);
  const idle = open(t, port);
  idle.pause();
  idle.write(get);
  const [accepted] = await once(server, 'connection');
  const cut = once(accepted, 'close');
  const slow = open(t, port);
  slow.write(get);
  const takePart = () => slow.read(2 ** 16) ?? slow.read();
  let taken = 0;
  const taking = setInterval(() => {
    taken += takePart()?.length ?? 0;
  }, 2);
  t.after(() => clearInterval(taking));
  await cut;
  while (taken < longBody.length) await new Promise((resolve) => setTimeout(resolve, 2));
});

test('a client that reads none of its answers is disconnected even if it keeps sending', async (t) => {
  const timeouts = { headersMs: 200, requestMs: 400, keepAliveMs: hourMs, untakenMs: 600 };
  const { baseUrl, key, store } = await startBuiltServer(t, { timeouts });
  await importPets(store.database, Array(100).fill({ name: '\u{1f408}'.repeat(255), categoryId: 1n }));
  const socket = open(t, new URL(baseUrl).port);
  socket.pause();
  await once(socket, 'connect');
  const list = `${formatHeads(key).get.replace('pets', 'pets?limit=100')}\r\n`;
  socket.write(list.repeat(waitingRequestsMax));
  const dripping = setInterval(() => socket.write('G'), 20);
  t.after(() => clearInterval(dripping));
  // The write after the close fails.
  await once(socket, 'close').catch(() => undefined);
});
