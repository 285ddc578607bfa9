import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { generateKey } from '../../src/accounts/api-key.ts';
import { createKeyLookup, lane } from '../../src/accounts/key-lookup.ts';
import { createKeyVerifier } from '../../src/accounts/key-verifier.ts';
import { startApp } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import { AppError } from '../../src/errors.ts';
import { everything } from '../../src/events/event-reader.ts';
import { createTail, waitingPagesMax } from '../../src/events/tail.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { createRequestLog, slowRequestMs } from '../../src/http/request-log.ts';
import { createLog } from '../../src/observability/log.ts';
import { insertPet } from '../../src/pets/pet-rows.ts';
import { openDatabase } from '../../src/storage/open-database.ts';
import { waitingJobsMax } from '../../src/storage/sqlite/write-queue.ts';
import { petValues } from '../support/catalogue.ts';
import { exchangeRaw, formatRequest } from '../support/raw-http.ts';
import { createMovableClock, makeFolder, startService } from '../support/service.ts';

/** Logs requests with these targets on a terminal. Returns the output. */
async function logOnTerminal(t: TestContext, targets: readonly string[]): Promise<string> {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const config = parseConfig({
    PORT: '0',
    OPS_PORT: '0',
    LOG_REQUESTS: 'all',
    DATABASE_URL: `sqlite:${join(await makeFolder(t), 'animal-store.db')}`,
  });
  const app = await startApp(config, createMovableClock().now, createLog('info', terminal));
  for (const target of targets) await exchangeRaw(t, app.url, formatRequest(`GET ${target}`, {}));
  await app.close();
  terminal.end();
  return await text(terminal);
}

test('a log on a terminal contains no control character of a path', async (t) => {
  const strangers = ['%0afake%20line', '%0d%1b%5b2J', '%c2%9b31m', '%e2%80%a8', '%e2%80%ae', '%7f'];
  const logged = await logOnTerminal(
    t,
    strangers.map((stranger) => `/v1/${stranger}`),
  );
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
function logDurations(
  durations: readonly number[],
  failure: AppError | null = null,
): Record<string, unknown>[] {
  const output = new PassThrough();
  const log = createLog('info', output);
  const requestLog = createRequestLog(log, 'errors', () => '192.0.2.1');
  const request = { method: 'POST', url: '/v1/pets?secret', headers: {} };
  const exchange = { id: 'req_1', request, caller: null, failure } as unknown as Exchange;
  for (const ms of durations) requestLog.note(exchange, failure === null ? 201 : 503, ms);
  log.flush();
  const lines = String(output.read() ?? '').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a slow request is logged even with LOG_REQUESTS=errors', () => {
  assert.deepEqual(logDurations([0, slowRequestMs - 1]), []);
  const [line] = logDurations([slowRequestMs]);
  const { level, method, path, status, ms, address } = line ?? {};
  assert.deepEqual(
    { level, method, path, status, ms, address },
    { level: 40, method: 'POST', path: '/v1/pets', status: 201, ms: slowRequestMs, address: '192.0.2.1' },
  );
});

/** Returns the cause in the log line of a request that gets 503, and its request id. */
async function readCause(refused: Promise<unknown>): Promise<unknown> {
  const failure = await refused.then(
    () => assert.fail('it was not refused'),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof AppError && failure.code === 'unavailable', String(failure));
  const [line] = logDurations([1], failure);
  assert.equal(line?.['requestId'], 'req_1');
  return line['cause'];
}

test('the log line of a 503 names its cause, whichever part refused the request', async (t) => {
  const path = join(await makeFolder(t), 'store.db');
  const database = await openDatabase(`sqlite:${path}`);
  t.after(() => database.close());
  let nowMs = 0;
  const clock = () => nowMs;

  const rex = petValues({ name: 'Rex', categoryId: 1n, status: 'available' });
  const add = () => database.run(insertPet, rex);
  const lock = new DatabaseSync(path);
  lock.exec('begin immediate');
  const added = Array.from({ length: waitingJobsMax + 1 }, add);
  assert.equal(await readCause(Promise.all([add(), add()])), 'too many calls wait for the store; try again');
  lock.close();
  await Promise.allSettled(added);

  const tail = createTail(database, clock);
  const waiting = { position: 0n, limit: 1, keyId: 'key_1', endsAtMs: Infinity, onGone: () => undefined };
  const wait = () => tail.wait({ ...waiting, reader: everything });
  const waits = Array.from({ length: waitingPagesMax }, wait);
  assert.equal(await readCause(wait()), 'too many requests are waiting for events; try again');
  tail.stop();
  await Promise.all(waits);

  const { promise: isAnswering, resolve: answer } = Promise.withResolvers<void>();
  const verifier = createKeyVerifier(database, clock, { environment: 'stg' });
  const slow = { ...verifier, verify: async (text: string) => isAnswering.then(() => verifier.verify(text)) };
  const lookup = createKeyLookup({ verifier: slow, findRefusal: () => null, clock });
  const lookUps = Array.from({ length: lane.runningMax + 1 }, async () =>
    lookup.verify(generateKey('stg'), '::1'),
  );
  nowMs = lane.waitMsMax + 1;
  answer();
  assert.match(String(await readCause(Promise.all(lookUps))), /^too many unknown API keys are waiting/);

  await database.close();
  assert.equal(await readCause(add()), 'the database is closed');
});

test('the logged and measured duration of an add includes its wait for the store', async (t) => {
  const service = await startService(t);
  const key = await service.createKey();
  const file = service.openFile();
  file.exec('begin immediate');
  const startedAtMs = performance.now();
  const adding = service.post(key, { name: 'Rex', categoryId: 1 });
  while (performance.now() - startedAtMs < 1.1 * slowRequestMs) await service.request(key, '/nothing');
  file.exec('rollback');
  const id = (await adding).headers.get('x-request-id');
  const [line] = service.findLines(`"${id}"`);
  assert.ok(Number(line?.['ms']) >= slowRequestMs, JSON.stringify(line));
  const metrics = await (await fetch(`${service.app.opsUrl}/metrics`)).text();
  const [, seconds] =
    /_duration_seconds_sum\{route="POST \/v1\/pets",status="201"\} (\S+)/.exec(metrics) ?? [];
  assert.ok(Number(seconds) >= 1, `${seconds} s`);
});

test('the log has the trace id of a valid traceparent and nothing of a malformed one', async (t) => {
  const service = await startService(t, { LOG_REQUESTS: 'all' });
  const key = await service.createKey();
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
