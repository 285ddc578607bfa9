import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { secondMs, systemClock } from '../../../src/clock.ts';
import { AppError } from '../../../src/errors.ts';
import { defaultTimeouts, lingerBytesMax } from '../../../src/http/connection/bounds.ts';
import { createHttpService } from '../../../src/http/http-service.ts';
import { createBodyMemory } from '../../../src/http/request/body-memory.ts';
import { openGate } from '../../../src/http/request/gate.ts';
import { createRefusalPace, refusalPace } from '../../../src/http/request/refusal-pace.ts';
import { createCors } from '../../../src/http/response/cors.ts';
import { createErrorAnswers } from '../../../src/http/response/errors.ts';
import { createLog } from '../../../src/observability/log.ts';
import { expectStatuses, openRaw } from '../../support/raw-http.ts';
import { eventually } from '../../support/redis-server.ts';

const { burst, perSecond } = refusalPace;

/** A pace whose burst is spent, and whose time stands still until it is moved. */
function createSpentPace() {
  let nowMs = 0;
  const pace = createRefusalPace(() => nowMs);
  const answered: string[] = [];
  const refuse = (name: string) => {
    const response = new EventEmitter();
    const taken = pace.take(response as unknown as ServerResponse);
    void Promise.resolve(taken).then((waitedMs) => answered.push(`${name} ${waitedMs}`));
    return response;
  };
  for (let spent = 0; spent < burst; spent += 1) assert.equal(pace.take({} as ServerResponse), 0);
  return {
    pace,
    refuse,
    answered,
    move(ms: number): void {
      nowMs += ms;
    },
  };
}

test('refusals beyond the burst are answered at the pace, in the order of their arrival', async () => {
  const { pace, refuse, answered, move } = createSpentPace();
  for (const name of ['a', 'b', 'c']) refuse(name);
  assert.equal(pace.count(), 3);
  move((2 * secondMs) / perSecond);
  await eventually(async () => answered.length === 2);
  assert.deepEqual(answered, ['a 1', 'b 1']);
  move(secondMs / perSecond);
  await eventually(async () => answered.length === 3);
  assert.deepEqual(answered, ['a 1', 'b 1', 'c 1.5']);
});

test('a refusal waits behind those that came before it, even if the pace would allow it', async () => {
  const { refuse, answered, move, pace } = createSpentPace();
  refuse('a');
  move(secondMs);
  refuse('b');
  assert.equal(pace.count(), 2);
  await eventually(async () => answered.length === 2);
  assert.deepEqual(answered, [`a ${secondMs}`, 'b 0']);
});

test('a client that leaves frees its place', async () => {
  const { pace, refuse, answered, move } = createSpentPace();
  refuse('gone').emit('close');
  refuse('next');
  assert.equal(pace.count(), 1);
  move(secondMs / perSecond);
  await eventually(async () => answered.length === 2);
});

test('no refusal waits after the end of the pace', async () => {
  const { pace, refuse, answered } = createSpentPace();
  refuse('a');
  pace.end();
  refuse('b');
  await eventually(async () => answered.length === 2);
  assert.equal(pace.count(), 0);
});

/** Serves with a gate that refuses every request with 401, and a pace at which each refusal waits until `release`. */
async function startRefusing(t: TestContext) {
  const { promise: released, resolve: release } = Promise.withResolvers<number>();
  let waiting = 0;
  const makeErrorAnswer = createErrorAnswers(null);
  const noted: number[] = [];
  const service = createHttpService({
    routes: [],
    gate: { ...openGate, admit: () => new AppError('api_key_missing', 'the key is missing') },
    bodyMemory: createBodyMemory(),
    pace: {
      take() {
        waiting += 1;
        return released;
      },
      end: () => release(1),
      count: () => waiting,
    },
    turns: {},
    cors: createCors([], { exposed: [], methods: [], requestHeaders: [] }),
    cache: null,
    makeErrorAnswer,
    makeMalformedAnswer: async (failure, _address, headers) => makeErrorAnswer(failure, headers),
    createRequestId: () => 'req_1',
    observers: [{ note: (_, status) => void noted.push(status), noteMalformed: () => undefined }],
    clock: systemClock,
    log: createLog('silent', new PassThrough()),
    timeouts: defaultTimeouts,
  });
  t.after(() => service.close(0));
  const url = await service.listen('127.0.0.1', 0);
  const untilWaiting = (count: number) => eventually(async () => waiting === count);
  return { url, release: () => release(1), untilWaiting, noted };
}

const post = 'POST /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';

test('a refusal that waits stays the answer if the rest of its body is not valid', async (t) => {
  const { url, release, untilWaiting, noted } = await startRefusing(t);
  const [broken, next] = [await openRaw(t, url, post), await openRaw(t, url)];
  await untilWaiting(1);
  broken.send('zz\r\n');
  // The service reads connections in order, so it has read the broken body when it refuses this request.
  next.send(post);
  await untilWaiting(2);
  assert.deepEqual(noted, []);
  release();
  expectStatuses(await broken.readAll(), 401);
});

test('a refusal whose client has left is not noted as answered', async (t) => {
  const { url, release, untilWaiting, noted } = await startRefusing(t);
  const [gone, here] = [await openRaw(t, url, post), await openRaw(t, url)];
  await untilWaiting(1);
  gone.reset();
  here.send(post);
  await untilWaiting(2);
  release();
  assert.equal((await here.read()).status, 401);
  assert.deepEqual(noted, [401]);
});

test('a refused client that sends more than 1 MiB while it waits is disconnected', async (t) => {
  const { url, untilWaiting } = await startRefusing(t);
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
  const connection = await openRaw(t, url, head);
  await untilWaiting(1);
  connection.send(`${(lingerBytesMax + 1).toString(16)}\r\n${'a'.repeat(lingerBytesMax + 1)}`);
  await assert.rejects(connection.read(), /the connection ended/);
});
