import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Answered, createAnswerScanner } from '../../bench/crowds/answer-scanner.ts';
import { runAskers } from '../../bench/crowds/askers.ts';
import { openConnection } from '../../bench/crowds/connection.ts';
import { type Figure, judgeRounds } from '../../bench/crowds/figures.ts';
import { rows } from '../../bench/crowds/rows.ts';
import { createTexts, newNumber } from '../../bench/crowds/texts.ts';
import { readOptions } from '../../bench/options.ts';
import { isKeyText } from '../../src/accounts/api-key.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nRex';
const last = 'HTTP/1.1 429 Too Many Requests\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';
const request = 'GET / HTTP/1.1\r\n\r\n';

/** Starts a server that calls `act` with each connection. Returns its origin. */
async function listen(t: TestContext, act: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket.on('error', () => {}));
    act(socket);
  }).listen(0, '127.0.0.1');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

const askUntilClosed = (origin: string, onReady = () => {}) =>
  runAskers(
    { kind: 'askers', origin, connections: 1, texts: [request], isUntilClosed: true },
    { onReady, stopped: new Promise(() => {}) },
  );

test('the scanner finds each answer, however its bytes are split', () => {
  const bytes = Buffer.from(ok + last + ok, 'latin1');
  const whole = [
    { status: 200, isLast: false },
    { status: 429, isLast: true },
    { status: 200, isLast: false },
  ];
  for (let size = 1; size <= bytes.length; size += 1) {
    const found: Answered[] = [];
    const scanner = createAnswerScanner((answered) => found.push(answered));
    for (let place = 0; place < bytes.length; place += size)
      scanner.read(bytes.subarray(place, place + size));
    assert.deepEqual(found, whole);
    assert.equal(scanner.isWithin(), false);
  }
});

test('an asker asks again after each answer, until one closes the connection', async (t) => {
  const { promise: ready, resolve } = Promise.withResolvers<void>();
  let asked = 0;
  const origin = await listen(t, (socket) => {
    socket.on('data', async () => {
      asked += 1;
      const answer = asked < 4 ? ok : last;
      // Only answers after the crowd is ready count, and it is ready after the first one.
      if (asked > 1) await ready;
      if (answer === ok) socket.write(ok);
      else socket.end(last);
    });
  });
  const { answers, lost, unread } = await askUntilClosed(origin, resolve);
  assert.deepEqual({ answers, lost, unread }, { answers: { 200: 2, 429: 1 }, lost: 0, unread: 0 });
  assert.equal(asked, 4);
});

test('a request that the server has read counts as lost if no whole answer comes', async (t) => {
  for (const part of ['', ok.slice(0, 20), ok.slice(0, -1)]) {
    const origin = await listen(t, (socket) => socket.once('data', () => socket.end(part)));
    const { lost, unread } = await askUntilClosed(origin);
    assert.deepEqual({ lost, unread }, { lost: 1, unread: 0 });
  }
});

test('a request that the server has not read when it closes the connection counts as unread', async (t) => {
  const origin = await listen(t, (socket) => socket.once('data', () => socket.resetAndDestroy()));
  const { lost, unread } = await askUntilClosed(origin);
  assert.deepEqual({ lost, unread }, { lost: 0, unread: 1 });
});

test('a request of a good client reports another status, a closed connection and a late answer', async (t) => {
  const answers = [ok, last, ''];
  const origin = await listen(t, (socket) => socket.once('data', () => socket.end(answers.shift() ?? '')));
  const ask = { origin, text: request, status: 200, isFresh: true };
  const send = (withinMs: number) => openConnection(ask).request(performance.now() + withinMs);
  assert.deepEqual(
    [await send(60_000), await send(60_000), await send(60_000)],
    [null, 'answered 429', 'closed'],
  );
  assert.equal(await send(0), 'not answered');
});

test('each stranger has a key of its own with a valid checksum', () => {
  const next = createTexts('strangers');
  const keys = Array.from({ length: 100 }, () => /Bearer (\S+)/.exec(next())?.[1] ?? '');
  assert.ok(keys.every(isKeyText));
  assert.equal(new Set(keys).size, keys.length);
});

test('the texts of a crowd are sent in turn, with a new number each time', () => {
  const next = createTexts([`a ${newNumber}`, 'b']);
  assert.deepEqual([next(), next(), next()], ['a 1', 'b', 'a 3']);
});

test('a goal of times is met if the median of the rounds is at most the median of the bounds', () => {
  const round = (value: number, max: number): Figure[] => [{ goal: 'p50', value, max, unit: 'ms' }];
  const judge = (...values: number[]) => judgeRounds(values.map((value) => round(value, 10)))[0]?.isMet;
  assert.equal(judge(1, 10, 99), true);
  assert.equal(judge(1, 10.1, 99), false);
  assert.equal(judge(Number.NaN), false);
  assert.equal(judgeRounds([round(5, 1), round(5, 5), round(5, 9)])[0]?.isMet, true);
});

test('a failure of one round counts', () => {
  const round = (value: number): Figure[] => [{ goal: 'failures', value, max: 0, unit: '' }];
  assert.equal(judgeRounds([round(0), round(0), round(0)])[0]?.isMet, true);
  assert.equal(judgeRounds([round(0), round(1), round(0)])[0]?.isMet, false);
});

test('--only selects crowds if --crowds is given', () => {
  const namesOf = (...args: string[]) => readOptions(args).crowds.map(({ name }) => name);
  assert.deepEqual(namesOf('--crowds', '--only', 'shutdown,banned'), ['banned-key', 'shutdown']);
  assert.deepEqual(
    namesOf('--crowds'),
    rows.map(({ name }) => name),
  );
  assert.deepEqual(namesOf(), []);
  assert.throws(() => namesOf('--crowds', '--only', 'create'), /there is no crowd create/);
});
