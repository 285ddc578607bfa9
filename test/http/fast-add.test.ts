import assert from 'node:assert/strict';
import { rename } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { expectError } from '../support/expect-error.ts';
import { createWarmKey, findLine, listSteadyHeaders, longWay } from '../support/lane.ts';
import { countLongWays } from '../support/long-ways.ts';
import { exchangeRaw, formatRequest, openRaw } from '../support/raw-http.ts';
import { startService } from '../support/service.ts';
import { startFaultyService } from './faulty-service.ts';

const rex = '{"name":"Rex","categoryId":1}';
function head(key: string, extra: Record<string, string> = {}) {
  return {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': String(rex.length),
    connection: 'keep-alive',
    ...extra,
  };
}

for (const [what, body, headers = {}] of [
  ['an animal', '{"name":"Rex","categoryId":1,"status":"sold"}'],
  ['a name beyond ASCII', '{"name":"Ünal 🐕 \\"\\\\","categoryId":9223372036854775807}'],
  ['an animal under an Idempotency-Key', rex, { 'idempotency-key': 'first' }],
] as const)
  test(`${what} has the same 201 on either way`, async (t) => {
    const service = await startService(t);
    const key = await createWarmKey(service);
    const short = await service.post(key, body, headers);
    const other = 'idempotency-key' in headers ? { 'idempotency-key': 'second' } : {};
    const long = await service.post(key, body, { ...longWay, ...other });
    assert.equal(short.status, 201);
    assert.equal(short.headers.get('location'), '/v1/pets/1');
    assert.equal(long.headers.get('location'), '/v1/pets/2');
    assert.match(short.headers.get('x-request-id') ?? '', /^req_/);
    const [ofShort, ofLong] = [short, long].map((response) =>
      listSteadyHeaders(response).filter(([header]) => header !== 'location'),
    );
    assert.deepEqual(ofShort, ofLong);
    assert.equal(await short.text(), (await long.text()).replace('"id":2', '"id":1'));
  });

for (const [what, body, headers = {}] of [
  ['a body without a name', '{"categoryId":1}'],
  ['a body that is no JSON', '{"name":'],
  ['a body of another charset', rex, { 'content-type': 'application/json; charset=latin1' }],
  ['a body that is no UTF-8', '{"name":"\xff","categoryId":1}'],
  ['an Idempotency-Key with a blank', rex, { 'idempotency-key': 'a b' }],
] as const)
  test(`${what} has the same refusal on either way, and is counted once`, async (t) => {
    const service = await startService(t);
    const key = await createWarmKey(service);
    const init = { method: 'POST', body: Buffer.from(body, 'latin1') };
    const plain = { 'content-type': 'application/json', ...headers };
    const short = await service.request(key, '/pets', { ...init, headers: plain });
    const long = await service.request(key, '/pets', { ...init, headers: { ...plain, ...longWay } });
    assert.equal(short.headers.get('x-ratelimit-remaining'), '999998');
    assert.equal(long.headers.get('x-ratelimit-remaining'), '999997');
    assert.deepEqual(listSteadyHeaders(short), listSteadyHeaders(long));
    assert.ok(short.status >= 400 && short.status < 500);
    assert.equal(await short.text(), await long.text());
    assert.equal(await service.countPets(), 0);
  });

test('the same Idempotency-Key is one animal, whichever way its requests go', async (t) => {
  const service = await startService(t);
  const key = await createWarmKey(service);
  const again = { 'idempotency-key': 'once' };
  const answers = [
    await service.post(key, rex, again),
    await service.post(key, rex, again),
    await service.post(key, rex, { ...again, ...longWay }),
  ];
  const bodies = await Promise.all(answers.map((answer) => answer.text()));
  assert.equal(new Set(bodies).size, 1);
  assert.deepEqual(
    answers.map(({ headers }) => headers.get('idempotent-replayed')),
    [null, 'true', 'true'],
  );
  const [, short, long] = answers.map(listSteadyHeaders);
  assert.deepEqual(short, long);
  await expectError(await service.post(key, rex.replace('1', '2'), again), 422, 'idempotency_key_reused');
  assert.equal(await service.countPets(), 1);
});

test('a body that comes after its head, or byte by byte, is one animal', async (t) => {
  const service = await startService(t);
  const key = await createWarmKey(service);
  const request = formatRequest('POST /v1/pets', head(key), rex);
  const connection = await openRaw(t, service.baseUrl);
  const bodyAt = request.indexOf('\r\n\r\n') + 4;
  for (const parts of [[request], [request.slice(0, bodyAt), rex], [...request]]) {
    for (const part of parts) connection.send(part);
    const { status, body } = await connection.read();
    assert.equal(status, 201, body);
  }
  assert.equal(await service.countPets(), 3);
});

test('adds in a row on one connection are answered in order, with what comes between them', async (t) => {
  const service = await startService(t);
  const key = await createWarmKey(service);
  const connection = await openRaw(t, service.baseUrl);
  const add = formatRequest('POST /v1/pets', head(key), rex);
  const list = formatRequest('GET /v1/pets?limit=1', {
    authorization: `Bearer ${key}`,
    connection: 'keep-alive',
  });
  connection.send(add + add + list + add);
  const ids: unknown[] = [];
  for (let number = 1; number <= 4; number += 1) ids.push((await connection.read()).headers.get('location'));
  assert.deepEqual(ids, ['/v1/pets/1', '/v1/pets/2', null, '/v1/pets/3']);
});

test('the answer to an add comes before that to the garbage behind it', async (t) => {
  const service = await startService(t);
  const key = await createWarmKey(service);
  const add = formatRequest('POST /v1/pets', head(key), rex);
  const responses = await exchangeRaw(t, service.baseUrl, `${add}garbage\r\n\r\n`);
  assert.deepEqual(
    responses.map(({ status }) => status),
    [201, 400],
  );
  assert.equal(await service.countPets(), 1);
});

for (const [what, headers] of [
  ['no Content-Length', ''],
  ['a Content-Length of 0', 'Content-Length: 0\r\n'],
  ['a Content-Length of 000', 'Content-Length: 000\r\n'],
] as const)
  test(`the refusal of a POST with ${what} comes before the answer to what is behind it`, async (t) => {
    const service = await startService(t);
    const key = await createWarmKey(service);
    const authorization = `Host: a\r\nAuthorization: Bearer ${key}\r\n`;
    const post = `POST /v1/pets HTTP/1.1\r\n${authorization}Content-Type: application/json\r\n${headers}`;
    for (const [behind, status] of [
      ['garbage\r\n\r\n', 400],
      ['CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', 405],
    ] as const) {
      const [refusal, other, ...more] = await exchangeRaw(t, service.baseUrl, `${post}\r\n${behind}`);
      await expectError(refusal ?? assert.fail('no response'), 400, 'invalid_body');
      assert.equal(refusal?.headers.get('x-ratelimit-limit'), '1000000');
      assert.equal(other?.status, status);
      assert.equal(other?.headers.get('x-ratelimit-limit'), '60');
      assert.deepEqual(more, []);
    }
  });

test('a client that goes away while its animal is added harms nobody', async (t) => {
  const service = await startService(t);
  const key = await createWarmKey(service);
  const file = service.openFile();
  file.exec('begin immediate');
  const connection = await openRaw(t, service.baseUrl);
  connection.send(formatRequest('POST /v1/pets', head(key), rex));
  await service.untilCounted(key, 2);
  connection.reset();
  file.exec('rollback');
  assert.equal((await service.post(key, rex)).status, 201);
  assert.equal(await service.countPets(), 2);
  assert.doesNotMatch(service.readLog(), /"status":5/);
});

test('exactly as many adds pass as the plan says, each one animal', async (t) => {
  const service = await startService(t);
  const key = await createWarmKey(service, 'free');
  const statuses = await Promise.all(
    Array.from({ length: 100 }, async () => (await service.post(key, rex)).status),
  );
  assert.equal(statuses.filter((status) => status === 201).length, 59);
  assert.equal(statuses.filter((status) => status === 429).length, 41);
  assert.equal(await service.countPets(), 59);
});

test('an add that the store cannot do is 503 with the headers of its one count', async (t) => {
  const { baseUrl, key } = await startFaultyService(t);
  for (const [headers, remaining] of [
    [{}, '999'],
    [longWay, '998'],
  ] as const) {
    const response = await fetch(`${baseUrl}/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: rex,
    });
    await expectError(response, 503, 'unavailable');
    assert.equal(response.headers.get('x-ratelimit-remaining'), remaining);
    assert.equal(response.headers.get('retry-after'), '1');
  }
});

test('an add whose answer cannot be written is 500, is there once, and the service goes on', async (t) => {
  const { baseUrl, key, store } = await startFaultyService(t, 'answer unwritable');
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}/pets`, { method: 'POST', headers, body: rex });
  await expectError(response, 500, 'internal_error');
  assert.equal(response.headers.get('x-ratelimit-remaining'), '999');
  const pets = await fetch(`${baseUrl}/pets`, { headers });
  assert.equal(pets.headers.get('x-ratelimit-remaining'), '998');
  assert.equal((await Array.fromAsync(store.catalogue.listAll())).flat().length, 1);
});

test('a key that may only read adds nothing', async (t) => {
  const service = await startService(t);
  const reader = await createWarmKey(service, 'enterprise', undefined, { scopes: ['pets:read'] });
  await expectError(await service.post(reader, rex), 403, 'scope_missing');
  assert.equal(await service.countPets(), 0);
});

/** An add that has waited for more than a second, as the store's file is locked. */
async function startSlowAdd(t: TestContext) {
  const service = await startService(t);
  const key = await createWarmKey(service);
  const file = service.openFile();
  file.exec('begin immediate');
  const startedAtMs = performance.now();
  const adding = service.post(key, rex);
  while (performance.now() - startedAtMs < 1_100) await service.request(key, '/nothing');
  return { service, file, adding };
}

test('an add that waits for the store longer than a second has its line in the log', async (t) => {
  const { service, file, adding } = await startSlowAdd(t);
  file.exec('rollback');
  const response = await adding;
  assert.equal(response.status, 201);
  const { level, method, path, status } = findLine(service, response);
  assert.deepEqual(
    { level, method, path, status },
    { level: 40, method: 'POST', path: '/v1/pets', status: 201 },
  );
});

test('an add that the store could not do in the end is logged and timed with its wait', async (t) => {
  const { service, file, adding } = await startSlowAdd(t);
  const path = file.location() ?? '';
  await rename(path, `${path}.away`);
  const response = await adding;
  await rename(`${path}.away`, path);
  await expectError(response, 503, 'unavailable');
  const { ms } = findLine(service, response);
  assert.ok(Number(ms) >= 1_000, `${ms}`);
  const metrics = await (await fetch(`${service.app.opsUrl}/metrics`)).text();
  const [, seconds] =
    /_duration_seconds_sum\{route="POST \/v1\/pets",status="503"\} (\S+)/.exec(metrics) ?? [];
  assert.ok(Number(seconds) >= 1, `${seconds} s`);
});

test('a plain add by a remembered key does not come to the framework, and each other one does', async (t) => {
  const service = await startService(t);
  const key = await createWarmKey(service);
  assert.equal(await countLongWays(() => service.post(key, rex)), 0);
  assert.equal(await countLongWays(() => service.post(key, rex, { 'idempotency-key': 'a' })), 0);
  assert.equal(await countLongWays(() => service.post(key, rex, longWay)), 1);
});
