import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { createHeadWriter, trySendingPreparedHead } from '../../../src/http/connection/response-head.ts';
import { formatRequest, openRaw } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';

const service = await startService({ after });
const key = await service.createKey();
const rex = '{"name":"Rex","categoryId":1}';
await service.importPets(30);
const authorization = `Bearer ${key}`;

test('this version of Node can send a prepared head', () => {
  assert.equal(trySendingPreparedHead(), true);
});

/** Headers that differ between requests. */
const changing = ['date', 'location', 'ratelimit', 'x-ratelimit-remaining', 'x-request-id'];
/** Headers that are not compared. Node closes an HTTP/1.0 connection after an answer without a length, such as 304. */
const ofConnection = ['connection', 'keep-alive'];
const post = { 'content-type': 'application/json', 'content-length': String(rex.length) };

for (const [line, headers, body] of [
  ['GET /v1/pets', {}, ''],
  ['GET /v1/pets/1', {}, ''],
  ['GET /v1/pets', { 'if-none-match': '*' }, ''],
  ['HEAD /v1/pets/1', {}, ''],
  ['GET /v1/pets?limit=0', {}, ''],
  ['GET /v1/nothing', { authorization: '' }, ''],
  ['POST /v1/pets', post, rex],
  ['GET /docs', {}, ''],
] as const)
  test(`${line} with ${JSON.stringify(headers)} gets the same header lines in a prepared head and in a head of Node`, async (t) => {
    const connection = await openRaw(t, service.baseUrl);
    const text = formatRequest(line, { authorization, connection: 'keep-alive', ...headers }, body);
    const shape = line.startsWith('HEAD') ? 'bodiless' : undefined;
    // For HTTP/1.0, Node writes the head of every answer itself.
    const ask = async (request: string) => {
      connection.send(request);
      const { status, headers: received } = await connection.read(shape);
      const all = [...received].filter(([name]) => !ofConnection.includes(name));
      return {
        status,
        headers: all.map(([name, value]) => (changing.includes(name) ? name : [name, value])),
      };
    };
    const prepared = await ask(text);
    assert.deepEqual(prepared, await ask(text.replace('HTTP/1.1', 'HTTP/1.0')));
  });

test('the Date header is the time of each answer in seconds', async (t) => {
  let nowMs = Date.UTC(2027, 0, 2, 12);
  const writeHead = createHeadWriter(0, () => nowMs);
  const server = createServer((_request, response) => {
    writeHead(response, 200, 'content-length: 0\r\n');
    response.end();
  });
  t.after(() => server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  for (const [ms, date] of [
    [0, 'Sat, 02 Jan 2027 12:00:00 GMT'],
    [999, 'Sat, 02 Jan 2027 12:00:00 GMT'],
    [1, 'Sat, 02 Jan 2027 12:00:01 GMT'],
    [-2_000, 'Sat, 02 Jan 2027 11:59:59 GMT'],
  ] as const) {
    nowMs += ms;
    const { headers } = await fetch(`http://127.0.0.1:${port}`);
    assert.equal(headers.get('date'), date);
    assert.equal(headers.get('keep-alive'), null);
  }
});

for (const [what, version, connection] of [
  ['that is to be closed', 'HTTP/1.1', 'close'],
  ['of HTTP/1.0', 'HTTP/1.0', 'none'],
] as const)
  test(`a connection ${what} is closed after an answer with Connection: close`, async (t) => {
    const raw = await openRaw(t, service.baseUrl);
    raw.send(formatRequest('GET /v1/pets', { authorization, connection }).replace('HTTP/1.1', version));
    const answers = await raw.readAll();
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('connection')]),
      [[200, 'close']],
    );
  });

test('a connection is kept alive for HTTP/1.1, and for HTTP/1.0 if the client asks for it', async (t) => {
  const raw = await openRaw(t, service.baseUrl);
  for (const version of ['HTTP/1.0', 'HTTP/1.1', 'HTTP/1.0']) {
    const text = formatRequest('GET /v1/pets', { authorization, connection: 'keep-alive' });
    raw.send(text.replace('HTTP/1.1', version));
    const { status, headers } = await raw.read();
    const lines = ofConnection.map((name) => headers.get(name));
    assert.deepEqual([status, ...lines], [200, 'keep-alive', 'timeout=72']);
  }
});
