import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { after, type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expectError } from '../../support/expect-error.ts';
import { until } from '../../support/processes.ts';
import { formatHeads, openRaw } from '../../support/raw-http.ts';
import { startWithKey } from '../../support/service.ts';

const { service, key } = await startWithKey({ after });
const { host, authorization, post } = formatHeads(key);
const chunkedHead = `${post}Transfer-Encoding: chunked\r\n\r\n`;
/** As many chunks as fit into a body. Each takes about 400 bytes of memory if it is kept. */
const chunks = '1\r\n \r\n'.repeat(60_000);
const waitMsMax = 10_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function measureMiB(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

/** Returns a weak reference to each request that arrives during the test. */
function watchRequests(t: TestContext): WeakRef<IncomingMessage>[] {
  const requests: WeakRef<IncomingMessage>[] = [];
  const note = (message: unknown) =>
    requests.push(new WeakRef((message as { request: IncomingMessage }).request));
  subscribe('http.server.request.start', note);
  t.after(() => unsubscribe('http.server.request.start', note));
  return requests;
}

/** Returns the bytes of bodies that the service holds. */
async function readHeld(): Promise<number> {
  const metrics = await (await fetch(`${service.app.opsUrl}/metrics`)).text();
  return Number(/request_body_bytes (\d+)/.exec(metrics)?.[1]);
}

/** Sends a request with a body of many chunks, without its end, on four connections. Waits until the service has read it. */
async function sendChunks(t: TestContext, line: string): Promise<readonly IncomingMessage[]> {
  const requests = watchRequests(t);
  const text = chunkedHead.replace('POST /v1/pets', line) + chunks;
  for (let number = 0; number < 4; number += 1) (await openRaw(t, service.baseUrl)).send(text);
  const listRead = async () =>
    requests
      .map((request) => request.deref())
      .filter((request) => request !== undefined)
      .filter(({ socket }) => socket.bytesRead >= text.length);
  return await until(listRead, ({ length }) => length === 4, waitMsMax);
}

test('a body in chunks of one byte takes little memory while it arrives', async (t) => {
  const before = measureMiB();
  await sendChunks(t, 'POST /v1/pets');
  assert.ok(measureMiB() - before < 10);
});

test('a body takes memory for the bytes that have arrived, not for its length', async (t) => {
  for (let number = 0; number < 4; number += 1)
    await openRaw(t, service.baseUrl, `${post}Content-Length: 65536\r\n\r\n{`);
  const held = await until(readHeld, (bytes) => bytes >= 4, waitMsMax);
  assert.equal(held, 4);
});

test('bodies in chunks of one byte take little memory while their requests wait behind another one', async (t) => {
  const before = measureMiB();
  const wait = `GET /v1/events?after=now&wait=20 HTTP/1.1\r\n${authorization}${host}\r\n`;
  for (let number = 0; number < 4; number += 1)
    await openRaw(t, service.baseUrl, wait + chunkedHead + chunks);
  await until(readHeld, (bytes) => bytes >= 4 * 60_000, waitMsMax);
  assert.ok(measureMiB() - before < 10);
});

test('a body that the operation ignores is not kept until the response', async (t) => {
  for (const request of await sendChunks(t, 'GET /v1/events?after=now&wait=20'))
    assert.equal(request.readableLength, 0);
});

test('an idle connection keeps no request in memory whose body arrived after its refusal', async (t) => {
  const requests = watchRequests(t);
  const head = `POST /v1/pets HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\n`;
  const connection = await openRaw(t, service.baseUrl, head);
  await expectError(await connection.read(), 401, 'api_key_missing');
  connection.send('{}');
  const isFreed = async () => {
    collect();
    return requests.length === 1 && requests[0]?.deref() === undefined;
  };
  await until(isFreed, (freed) => freed, waitMsMax);
});
