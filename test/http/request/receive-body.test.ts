import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createBodyMemory } from '../../../src/http/request/body-memory.ts';
import { receiveBody } from '../../../src/http/request/receive-body.ts';
import { openRaw } from '../../support/raw-http.ts';

/** Sends the head of a request to a bare server, and receives its body. */
async function startReceiving(t: TestContext) {
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const memory = createBodyMemory();
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n';
  const requested = once(server, 'request') as Promise<[IncomingMessage]>;
  const { port } = server.address() as AddressInfo;
  const connection = await openRaw(t, `http://127.0.0.1:${port}`, head);
  const [request] = await requested;
  receiveBody(request, memory);
  return { request, memory, connection };
}

test('the memory of a body grows with the bytes that have arrived, at most twofold', async (t) => {
  const { request, memory, connection } = await startReceiving(t);
  let arrived = 0;
  request.on('data', (chunk: Buffer) => {
    arrived += chunk.length;
  });
  for (const [bytes, most] of [
    [1, 1],
    [2, 1_024],
    [1_025, 2_048],
    [5_000, 10_000],
    [59_999, 60_000],
  ] as const) {
    connection.send('a'.repeat(bytes - arrived));
    while (arrived < bytes) await once(request, 'data');
    assert.ok(memory.count() >= bytes && memory.count() <= most, `${memory.count()} for ${bytes}`);
  }
});
