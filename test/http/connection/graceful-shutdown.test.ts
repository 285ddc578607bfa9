import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import { type TestContext, test } from 'node:test';
import { drainMsMax } from '../../../src/app.ts';
import { hourMs } from '../../../src/clock.ts';
import { closeGracefully, lastCallMs } from '../../../src/http/connection/graceful-shutdown.ts';
import { refusalPace } from '../../../src/http/request/refusal-pace.ts';
import { listen } from '../../support/local-server.ts';
import { expectStatuses, formatHeads, formatRequest, openRaw } from '../../support/raw-http.ts';
import { startWithKey } from '../../support/service.ts';

test('a request that has arrived is answered, even if its connection was idle at the last check', async (t) => {
  const server = createServer();
  const { origin } = await listen(t, server);
  const connection = await openRaw(t, origin);
  const get = formatRequest('GET /', { connection: 'keep-alive' });
  server.once('request', (_, response) => {
    const look = server.closeIdleConnections.bind(server);
    let looks = 0;
    server.closeIdleConnections = () => {
      look();
      looks += 1;
      if (looks === 1) setImmediate(answer);
    };
    const closed = closeGracefully(server, { holdNew: () => {}, releaseNew: () => {} }, hourMs);
    t.after(() => closed);
    // From its close on, the server looks for idle connections. This answer makes the connection idle after a look.
    const answer = () => {
      response.end('first');
      connection.send(get);
      server.once('request', (__, second) => second.setHeader('connection', 'close').end('second'));
      // Timers run before reads. So the next look is due before the server reads the request.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lastCallMs);
    };
  });
  connection.send(get);
  for (const expected of ['first', 'second']) assert.equal((await connection.read()).body, expected);
  assert.deepEqual(await connection.readAll(), []);
});

/** Disables the timer that cuts the remaining connections at the end of the shutdown. */
function leaveOutCut(t: TestContext): void {
  const { setTimeout } = globalThis;
  const wait = (callback: () => void, ms?: number) =>
    ms === drainMsMax ? setTimeout(callback, hourMs).unref() : setTimeout(callback, ms);
  t.mock.method(globalThis, 'setTimeout', wait);
}

test('a shutdown keeps only open connections, each until its last request is answered', async (t) => {
  leaveOutCut(t);
  const { service, key } = await startWithKey(t);
  const file = service.openFile();
  file.exec('begin immediate');
  const [busy, idle] = [await openRaw(t, service.baseUrl), await openRaw(t, service.baseUrl)];
  busy.send(formatHeads(key).add);
  await service.untilCounted(key, 1);
  const closed = service.app.close();
  // The idle connection is closed while the service waits for the busy one.
  await idle.readAll();
  await assert.rejects(openRaw(t, service.baseUrl), { code: 'ECONNREFUSED' });
  file.exec('rollback');
  assert.equal((await busy.read()).status, 201);
  assert.deepEqual(await busy.readAll(), []);
  await closed;
});

test('a request on an accepted connection that is not yet read when the shutdown begins is answered', async (t) => {
  const { service, key } = await startWithKey(t);
  const arrived = new Promise<void>((resolve) => {
    const tell = () => resolve();
    subscribe('net.server.socket', tell);
    t.after(() => unsubscribe('net.server.socket', tell));
  });
  const connection = await openRaw(t, service.baseUrl, formatHeads(key).add);
  await arrived;
  const closed = service.app.close();
  expectStatuses(await connection.readAll(), 201);
  await closed;
});

/** Sends adds, each on a connection of its own, until the service does not listen. Returns the number of answers. */
async function addOnNewConnections(t: TestContext, baseUrl: string, key: string): Promise<number> {
  for (let answered = 0; ; answered += 1) {
    const connection = await openRaw(t, baseUrl, formatHeads(key).add).catch((error) => {
      assert.equal(error.code, 'ECONNREFUSED');
      return null;
    });
    if (connection === null) return answered;
    assert.equal((await connection.read()).status, 201);
    connection.end();
  }
}

test('clients that connect anew for each request lose no answer during a shutdown', async (t) => {
  const { service, key } = await startWithKey(t);
  const clients = Array.from({ length: 16 }, () => addOnNewConnections(t, service.baseUrl, key));
  await service.untilCounted(key, 200);
  await service.app.close();
  const answered = (await Promise.all(clients)).reduce((sum, one) => sum + one);
  assert.equal(await service.countPets(), answered);
});

test('a shutdown answers the refused requests that wait for their pace', async (t) => {
  const { service } = await startWithKey(t);
  const count = 2 * refusalPace.burst;
  const connections = await Promise.all(Array.from({ length: count }, () => openRaw(t, service.baseUrl)));
  for (const connection of connections)
    connection.send(formatRequest('GET /v1/pets', { connection: 'keep-alive' }));
  await service.app.close();
  for (const connection of connections) {
    const [{ status } = assert.fail(), ...more] = await connection.readAll();
    assert.ok(status === 401 || status === 429);
    assert.deepEqual(more, []);
  }
});

test('clients that keep sending during a shutdown lose no answer', async (t) => {
  const { service, key } = await startWithKey(t);
  const connections = await Promise.all(Array.from({ length: 20 }, () => openRaw(t, service.baseUrl)));
  let answered = 0;
  const clients = connections.map(async (connection) => {
    for (;;) {
      connection.send(formatHeads(key).add);
      const response = await connection.read();
      assert.equal(response.status, 201);
      answered += 1;
      if (response.headers.get('connection') === 'close') return;
      if (answered === 200) closed = service.app.close();
    }
  });
  let closed: Promise<void> | undefined;
  await Promise.all(clients);
  await closed;
  assert.equal(await service.countPets(), answered);
});
