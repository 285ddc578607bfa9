import assert from 'node:assert/strict';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { generateKey } from '../../src/accounts/api-key.ts';
import { startApp } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import { AppError } from '../../src/errors.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { createRequestLog, linesPerSecondMax, slowRequestMs } from '../../src/http/request-log.ts';
import { createLog } from '../../src/observability/log.ts';
import { type LogLine, recordLog } from '../support/recorded-log.ts';
import { createMovableClock, makeFolder, startService, startWithKey } from '../support/service.ts';
import { startBuiltServer } from './built-server.ts';

/** Logs requests for these paths below `/v1` on a terminal. Returns the output. */
async function logOnTerminal(t: TestContext, paths: readonly string[]): Promise<string> {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const config = parseConfig({
    PORT: '0',
    OPS_PORT: '0',
    LOG_REQUESTS: 'all',
    DATABASE_URL: `sqlite:${join(await makeFolder(t), 'animal-store.db')}`,
  });
  const app = await startApp(config, createMovableClock().now, createLog('info', terminal));
  for (const path of paths) await fetch(`${app.url}/v1/${path}`);
  await app.close();
  terminal.end();
  return await text(terminal);
}

test('a log on a terminal contains no control character of a path', async (t) => {
  const strangers = ['%0afake%20line', '%0d%1b%5b2J', '%c2%9b31m', '%e2%80%a8', '%e2%80%ae', '%7f'];
  const logged = await logOnTerminal(t, strangers);
  assert.match(logged, /GET \/v1\/\\u\{a\}fake line 401 \{[^\n]*\}$/m);
  assert.equal(logged.match(/ INFO: GET \/v1\//g)?.length, strangers.length);
  assert.doesNotMatch(logged, /^fake line|[^\P{C}\n]|[\u2028\u2029]/mu);
});

test('a key in a path with a line break is redacted everywhere in the log', async (t) => {
  const service = await startService(t, { LOG_REQUESTS: 'all' });
  const key = generateKey('stg');
  for (const spelling of [key, key.replaceAll('_', '%5F')]) await service.request(null, `/%0a${spelling}%0a`);
  const lines = service.findLines('"status":401');
  assert.equal(lines.length, 2);
  for (const { path, msg } of lines) {
    assert.equal(path, '/v1/\\u{a}as_stg_[redacted]\\u{a}');
    assert.equal(msg, `GET ${path} 401`);
  }
});

/** Logs requests with these durations in ms with `LOG_REQUESTS=errors`. Returns the log lines. */
function logDurations(durations: readonly number[], failure: AppError | null = null): LogLine[] {
  const { log, findLines } = recordLog();
  const requestLog = createRequestLog(
    log,
    () => 'errors',
    () => '192.0.2.1',
  );
  const request = { method: 'POST', url: '/v1/pets?secret', headers: {} };
  const exchange = { id: 'req_1', request, caller: null, failure } as unknown as Exchange;
  for (const ms of durations) requestLog.note(exchange, failure === null ? 201 : 503, ms);
  return findLines();
}

test('a refused body may have any value in a field that names an object of another operation', async (t) => {
  const { service, key } = await startWithKey(t);
  for (const id of ['{"toString":1}', '[[{"toString":1}]]', 'null', 'true', '9e999', '"\\ud800"']) {
    const body = `{"status":"enabled","petId":${id},"orderId":${id}}`;
    const headers = { 'content-type': 'application/json' };
    const answer = await service.request(key, '/webhooks/wh_0000000000000000', {
      method: 'PATCH',
      headers,
      body,
    });
    assert.ok([400, 404].includes(answer.status), `${id}: ${answer.status}`);
  }
  assert.deepEqual(service.findLines('an answered request could not be counted or logged'), []);
});

test('a fault of an observer is logged, and the others get the request', async (t) => {
  const { log, findLines } = recordLog();
  const noted: number[] = [];
  const faulty = () => {
    throw new Error('a fault of an observer');
  };
  const observers = [
    { note: faulty, noteMalformed: () => undefined },
    { note: (_: unknown, status: number) => noted.push(status), noteMalformed: () => undefined },
  ];
  const { baseUrl, key } = await startBuiltServer(t, { observers, log });
  for (const path of ['/pets', '/pets/1'])
    await fetch(`${baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
  assert.deepEqual(noted, [200, 404]);
  assert.equal(findLines('an answered request could not be counted or logged').length, 2);
});

test('a slow request is logged even with LOG_REQUESTS=errors', () => {
  assert.deepEqual(logDurations([0, slowRequestMs - 1]), []);
  const [line] = logDurations([slowRequestMs]);
  const request = { method: 'POST', path: '/v1/pets', status: 201, address: '192.0.2.1' };
  assert.partialDeepStrictEqual(line, { level: 40, ms: slowRequestMs, ...request });
});

test('slow requests write a bounded number of lines a second', () => {
  const lines = logDurations(Array(4 * linesPerSecondMax).fill(slowRequestMs));
  // The second may end once during the test.
  assert.ok(lines.length >= linesPerSecondMax && lines.length <= 2 * linesPerSecondMax);
});

test('the log line of a 503 has its code and names its cause', () => {
  const cause = new Error('the disk\nis full');
  const [line] = logDurations([1], new AppError('unavailable', 'try again', { cause }));
  assert.deepEqual([line?.['code'], line?.['cause']], ['unavailable', 'the disk is full']);
  const [own] = logDurations([1], new AppError('unavailable', 'too many calls wait'));
  assert.equal(own?.['cause'], 'too many calls wait');
});

test('the log has the trace id of a valid traceparent and nothing of a malformed one', async (t) => {
  const { service, key } = await startWithKey(t, { LOG_REQUESTS: 'all' });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  for (const [traceparent, logged] of [
    [`00-${traceId}-00f067aa0ba902b7-01`, traceId],
    [`cc-${traceId}-00f067aa0ba902b7-01-more`, traceId],
    [`00-${traceId}-00f067aa0ba902b7`, undefined],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, undefined],
    [`00-${traceId.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
    ['secret', undefined],
  ] as const) {
    const { headers } = await service.request(key, '/pets', { headers: { traceparent } });
    const id = headers.get('x-request-id');
    const [line] = service.findLines(`"${id}"`);
    assert.equal(line?.['traceId'], logged, traceparent);
  }
  assert.doesNotMatch(service.readLog(), /secret/);
});
