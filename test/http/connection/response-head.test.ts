import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createSender, takesHead, toLines } from '../../../src/http/head.ts';
import { countLongWays } from '../../support/long-ways.ts';
import { formatRequest, openRaw } from '../../support/raw-http.ts';
import { startService } from '../../support/service.ts';

const rex = '{"name":"Rex","categoryId":1}';
const longWay = { prefer: 'respond-async' };
const changing = /^(?:Date|location|x-request-id|x-ratelimit-remaining|ratelimit): /;

/** The head of an answer as it comes over the wire. */
async function readHead(t: TestContext, baseUrl: string, request: string): Promise<string[]> {
  const { hostname, port } = new URL(baseUrl);
  const socket = new Socket().connect(Number(port), hostname);
  t.after(() => socket.destroy());
  socket.write(request);
  let text = '';
  for await (const chunk of socket) {
    text += String(chunk);
    if (text.includes('\r\n\r\n')) break;
  }
  return text.slice(0, text.indexOf('\r\n\r\n')).split('\r\n');
}

test('the head of an answer is the same on either way, name by name as it is spelt', async (t) => {
  const service = await startService(t);
  const key = await service.createKey();
  await service.post(key, rex);
  const post = { 'content-type': 'application/json', 'content-length': String(rex.length) };
  for (const [line, headers, body] of [
    ['GET /v1/pets', {}, ''],
    ['GET /v1/pets/1', {}, ''],
    ['POST /v1/pets', post, rex],
  ] as const) {
    const common = { authorization: `Bearer ${key}`, connection: 'keep-alive', ...headers };
    await service.request(key, line.replace('GET /v1', '').replace('POST /v1', ''));
    const ask = (extra = {}) =>
      readHead(t, service.baseUrl, formatRequest(line, { ...common, ...extra }, body));
    let [shortStatus = '', ...short]: string[] = [];
    const longWays = await countLongWays(async () => {
      [shortStatus = '', ...short] = await ask();
    });
    assert.equal(longWays, 0, line);
    const [longStatus, ...long] = await ask(longWay);
    const listFixed = (lines: string[]) => lines.filter((one) => !changing.test(one)).sort();
    const listNames = (lines: string[]) => lines.map((one) => one.split(':')[0]).sort();
    assert.match(shortStatus, /^HTTP\/1\.1 20[01] (?:OK|Created)$/);
    assert.equal(shortStatus, longStatus);
    assert.deepEqual(listFixed(short), listFixed(long));
    assert.deepEqual(listNames(short), listNames(long));
    assert.ok(short.includes('Connection: keep-alive') && short.includes('Keep-Alive: timeout=72'));
  }
});

const limit = {
  'x-ratelimit-limit': '60',
  'x-ratelimit-remaining': '59',
  'x-ratelimit-reset': '1',
  'ratelimit-policy': '"minute";q=60;w=60',
  ratelimit: '"minute";r=59;t=60',
};

test('Date is the time of each answer, by the second', async (t) => {
  let nowMs = Date.UTC(2027, 0, 2, 12);
  const send = createSender(
    0,
    (response, body) => response.end(body),
    () => nowMs,
  );
  const server = createServer((_request, response) => {
    send(response, {
      status: 200,
      requestId: 'req_1',
      limit,
      lines: toLines({ 'content-length': '0' }),
      body: '',
    });
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
  test(`a connection ${what} is closed behind the answer, which says so`, async (t) => {
    const service = await startService(t);
    const key = await service.createKey();
    await service.request(key, '/pets');
    const raw = await openRaw(t, service.baseUrl);
    const request = formatRequest('GET /v1/pets', { authorization: `Bearer ${key}`, connection });
    raw.send(request.replace('HTTP/1.1', version));
    const [answer, ...more] = await raw.readAll();
    assert.equal(answer?.status, 200);
    assert.equal(answer?.headers.get('connection'), 'close');
    assert.deepEqual(more, []);
  });

test('a client of HTTP/1.0 that asks for it keeps its connection', async (t) => {
  const service = await startService(t);
  const key = await service.createKey();
  await service.request(key, '/pets');
  const raw = await openRaw(t, service.baseUrl);
  const headers = { authorization: `Bearer ${key}`, connection: 'keep-alive' };
  for (let number = 0; number < 2; number += 1) {
    raw.send(formatRequest('GET /v1/pets', headers).replace('HTTP/1.1', 'HTTP/1.0'));
    const answer = await raw.read();
    assert.deepEqual([answer.status, answer.headers.get('connection')], [200, 'keep-alive']);
  }
});

test('no header is written that would end its line or is none of HTTP', () => {
  assert.equal(toLines({ a: 'b', 'c-d': 'é' }), 'a: b\r\nc-d: é\r\n');
  for (const headers of [
    { a: 'b\r\nc: d' },
    { a: 'b\nc' },
    { a: 'ÿ–' },
    { 'a b': 'c' },
    { 'a:': 'b' },
    { '': 'b' },
    { a: undefined as unknown as string },
  ])
    assert.throws(() => toLines(headers), TypeError, JSON.stringify(headers));
});

test('a response that holds its head elsewhere, or ends its connection, does not take one', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.shouldKeepAlive = false;
  assert.equal(takesHead(response), false);
  response.shouldKeepAlive = true;
  assert.equal(takesHead(response), true);
  response.writeHead(200);
  assert.equal(takesHead(response), false);
  assert.equal(takesHead({ shouldKeepAlive: true } as ServerResponse), false);
});
