import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import { after, test } from 'node:test';
import { expectCommonHeaders, expectError, expectHeaders } from '../../support/expect-error.ts';
import { exchangeOne, rexText as rex } from '../../support/raw-http.ts';
import { type Ending, startService, startWithKey, type TestService } from '../../support/service.ts';
import { startFaultyService } from '../faulty-service.ts';

const { service, key } = await startWithKey({ after }, { LOG_REQUESTS: 'all' });
await service.importPets(3);

function formatAdd(withKey: string): RequestInit {
  const headers = { authorization: `Bearer ${withKey}`, 'content-type': 'application/json' };
  return { method: 'POST', headers, body: rex };
}

/** Starts a service with a cached key. Its rows are not read again, because the clock does not move. */
async function startWithCachedKey(t: Ending) {
  const started = await startWithKey(t);
  await started.service.request(started.key, '/nothing');
  return started;
}

/** Overwrites the root page of a table or an index with bytes that SQLite cannot read. */
function corruptTable(own: TestService, table: string): void {
  const file = own.openFile();
  const page = file.prepare('select rootpage from sqlite_schema where name = ?').get(table)?.['rootpage'];
  const size = file.prepare('pragma page_size').get()?.['page_size'];
  const descriptor = openSync(own.config.databaseUrl.replace('sqlite:', ''), 'r+');
  writeSync(descriptor, Buffer.alloc(Number(size), 0xff), 0, Number(size), (Number(page) - 1) * Number(size));
  closeSync(descriptor);
}

test('if the store cannot be read, the answers, the log, the metrics and the readiness say so', async (t) => {
  const { service: own, key: ownKey } = await startWithCachedKey(t);
  corruptTable(own, 'pets');
  for (const path of ['/pets', '/pets/1']) {
    const response = await own.request(ownKey, path);
    const message = await expectError(response, 503, 'unavailable');
    assert.doesNotMatch(message, /sqlite|malformed|corrupt|pets/i);
    assert.match(response.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.equal(response.headers.get('x-ratelimit-limit'), '1000000');
  }
  assert.match(own.readLog(), /"the store cannot be read: [^"]*malformed"/);
  for (const [page, text] of [
    ['readyz', /"notes":\["the store cannot be read since /],
    ['metrics', /store_failures_total\{call="read"\} [1-9]/],
  ] as const)
    assert.match(await (await fetch(`${own.app.opsUrl}/${page}`)).text(), text);
});

test('/readyz has a note of a fault of the store that only its own check has found', async (t) => {
  const own = await startService(t);
  corruptTable(own, 'accounts_by_name');
  const response = await fetch(`${own.app.opsUrl}/readyz`);
  assert.equal(response.status, 503);
  assert.match(await response.text(), /"notes":\["the store cannot be read since /);
});

test('requests get 5xx with the limits of the address and are not counted if the keys cannot be read', async (t) => {
  const { service: own, key: ownKey } = await startWithKey(t);
  own.openFile().exec('drop table api_keys');
  corruptTable(own, 'accounts');
  // Requests at the same time share one read of their key.
  for (const response of await Promise.all([1, 2, 3].map(() => own.request(ownKey, '/pets')))) {
    assert.ok(response.status >= 500);
    expectCommonHeaders(response);
    expectHeaders(response, { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '60' });
  }
});

test('an unexpected error gets a 500 whose cause is only in the log', async (t) => {
  const { service: own, key: ownKey } = await startWithCachedKey(t);
  const file = own.openFile();
  file.exec('alter table pets rename to gone');
  for (const line of ['GET /pets', 'GET /pets/1', 'POST /pets']) {
    const response = await own.send(ownKey, line, line.startsWith('POST') ? rex : undefined);
    const message = await expectError(response, 500, 'internal_error');
    assert.equal(message, 'the service failed; try again');
    const logged = own.findLines(`"${response.headers.get('x-request-id')}"`, 'no such table');
    assert.notDeepEqual(logged, [], 'the log names the cause under the id of the request');
  }
  file.exec('alter table gone rename to pets');
  assert.equal((await own.post(ownKey, rex)).status, 201);
});

test('an add that the store cannot execute gets 503 and counts once', async (t) => {
  const { baseUrl, key: ownKey } = await startFaultyService(t);
  for (const remaining of ['999', '998']) {
    const response = await fetch(`${baseUrl}/pets`, formatAdd(ownKey));
    const headers = { 'x-ratelimit-remaining': remaining, 'retry-after': '1' };
    await expectError(response, 503, 'unavailable', headers);
  }
});

test('an add whose answer cannot be serialised gets 500 but adds its animal', async (t) => {
  const { baseUrl, key: ownKey, store } = await startFaultyService(t, 'answer unwritable');
  for (const remaining of ['999', '998']) {
    const response = await fetch(`${baseUrl}/pets`, formatAdd(ownKey));
    await expectError(response, 500, 'internal_error', { 'x-ratelimit-remaining': remaining });
  }
  assert.equal((await Array.fromAsync(store.catalogue.listAll())).flat().length, 2);
});

/** Sends requests that the service answers at different stages. Returns their responses. */
async function sendVaried(t: Ending) {
  return [
    await exchangeOne(t, service.baseUrl, 'garbage\r\n\r\n'),
    await service.request(key, '/pets?secret=hidden', { headers: { 'x-request-id': 'mine' } }),
    await service.request(key, '/pets/none'),
    await service.request(null, '/pets'),
    await service.request(key, '/%zz?secret=hidden'),
    await service.post(key, '{'),
    await service.request(key, '/pets', { method: 'DELETE' }),
  ];
}

test('every response has a request id of the service, under which the log has its status', async (t) => {
  const responses = await sendVaried(t);
  const ids = responses.map(({ headers }) => headers.get('x-request-id') ?? '');
  assert.equal(new Set(ids).size, ids.length);
  for (const [index, id] of ids.entries()) {
    assert.match(id, /^req_/);
    const [line] = service.findLines(`"requestId":"${id}"`, '"status":');
    assert.equal(line?.['status'], responses[index]?.status, id);
  }
});

test('only a response that is no failure may be stored', async (t) => {
  for (const { status, headers } of await sendVaried(t))
    assert.equal(headers.get('cache-control'), status === 200 ? 'private, no-cache' : 'no-store');
});

test('no response names the software of the service', async (t) => {
  for (const { headers } of await sendVaried(t))
    assert.deepEqual([headers.get('server'), headers.get('x-powered-by')], [null, null]);
});

test('the log has neither the query of a request nor the request id of a client', async (t) => {
  for (const { headers } of await sendVaried(t))
    assert.notDeepEqual(service.findLines(`"requestId":"${headers.get('x-request-id')}"`, '"status":'), []);
  assert.doesNotMatch(service.readLog(), /hidden|mine/);
});
