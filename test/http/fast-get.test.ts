import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPostgres, sqliteEngine } from '../support/engines.ts';
import { expectError } from '../support/expect-error.ts';
import { createWarmKey, findLine, listSteadyHeaders, longWay } from '../support/lane.ts';
import { countLongWays } from '../support/long-ways.ts';
import { exchangeRaw, formatRequest, openRaw } from '../support/raw-http.ts';
import { startFaultyService } from './faulty-service.ts';
import { lockPets, startWith } from './unread-animals.ts';

const postgres = await findPostgres();

for (const engine of [sqliteEngine, postgres]) {
  const { name, skip } = engine;

  test(`${name}: an animal that is not ready has the same answer on either way`, { skip }, async (t) => {
    const { service, key } = await startWith(t, engine);
    let short: Response | undefined;
    const longWays = await countLongWays(async () => {
      short = await service.request(key, '/pets/2');
    });
    assert.equal(longWays, 0);
    const again = await service.request(key, '/pets/2');
    const long = await service.request(key, '/pets/2', { headers: longWay });
    const [body] = await Promise.all([long.text(), again.text()]);
    assert.equal(body, '{"id":2,"name":"n2","categoryId":2,"status":"pending"}');
    assert.equal(await short?.text(), body);
    assert.deepEqual(short && listSteadyHeaders(short), listSteadyHeaders(long));
    assert.deepEqual(listSteadyHeaders(again), listSteadyHeaders(long));
    assert.match(short?.headers.get('x-request-id') ?? '', /^req_/);
    assert.equal(short?.headers.get('x-ratelimit-remaining'), '999998');
    assert.equal(long.headers.get('x-ratelimit-remaining'), '999996');
  });

  test(`${name}: what is no animal is 404 on either way, and counted once`, { skip }, async (t) => {
    const { service, key } = await startWith(t, engine);
    for (const id of ['6', '9223372036854775807', '007', '9223372036854775808']) {
      const short = await service.request(key, `/pets/${id}`);
      const long = await service.request(key, `/pets/${id}`, { headers: longWay });
      assert.deepEqual(listSteadyHeaders(short), listSteadyHeaders(long));
      const remaining = [short, long].map(({ headers }) => Number(headers.get('x-ratelimit-remaining')));
      assert.equal((remaining[0] ?? 0) - (remaining[1] ?? 0), 1);
      await expectError(short, 404, 'not_found');
      await expectError(long, 404, 'not_found');
    }
  });

  test(`${name}: gets and adds in a row on one connection are answered in order`, { skip }, async (t) => {
    const { service, key } = await startWith(t, engine);
    const connection = await openRaw(t, service.baseUrl);
    const headers = { authorization: `Bearer ${key}`, connection: 'keep-alive' };
    const get = (id: number) => formatRequest(`GET /v1/pets/${id}`, headers);
    const rex = '{"name":"Rex","categoryId":1}';
    const length = String(rex.length);
    const add = formatRequest(
      'POST /v1/pets',
      { ...headers, 'content-type': 'application/json', 'content-length': length },
      rex,
    );
    connection.send(get(1) + add + get(6) + get(2) + get(7));
    const answers: unknown[] = [];
    for (let number = 1; number <= 5; number += 1) {
      const { status, body } = await connection.read();
      answers.push([status, (JSON.parse(body) as { id?: number }).id]);
    }
    assert.deepEqual(answers, [
      [200, 1],
      [201, 6],
      [200, 6],
      [200, 2],
      [404, undefined],
    ]);
  });

  for (const [behind, status, text] of [
    ['garbage', 400, 'garbage\r\n\r\n'],
    ['a CONNECT', 405, 'CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ] as const)
    test(`${name}: ${behind} behind a get is answered behind it`, { skip }, async (t) => {
      const { service, key } = await startWith(t, engine);
      const get = formatRequest('GET /v1/pets/2', {
        authorization: `Bearer ${key}`,
        connection: 'keep-alive',
      });
      const responses = await exchangeRaw(t, service.baseUrl, get + text);
      assert.deepEqual(
        responses.map((response) => response.status),
        [200, status],
      );
    });
}

test('exactly as many gets pass as the plan says, each other one a strike', async (t) => {
  const { service, key } = await startWith(t, sqliteEngine, 'free');
  const ask = async (_: unknown, index: number) => {
    const response = await service.request(key, `/pets/${1 + (index % 5)}`);
    return ((await response.json()) as { code?: string }).code ?? response.status;
  };
  const outcomes = await Promise.all(Array.from({ length: 100 }, ask));
  assert.equal(outcomes.filter((outcome) => outcome === 200).length, 59);
  assert.equal(outcomes.filter((outcome) => outcome === 'rate_limit_exceeded').length, 41);
});

test('a key that may only write, or is none, gets no animal', async (t) => {
  const { service } = await startWith(t);
  const writer = await createWarmKey(service, 'enterprise', undefined, { scopes: ['pets:write'] });
  await expectError(await service.request(writer, '/pets/1'), 403, 'scope_missing');
  await expectError(await service.request(null, '/pets/1'), 401, 'api_key_missing');
});

test('an animal is gone with its operation, whether it is ready or not', async (t) => {
  const { service, key } = await startWith(t);
  const advanceTo = async (ms: number) => {
    service.clock.advance(ms - service.clock.now());
    // A key is remembered for a second, and no longer than to the end of its minute.
    await service.request(key, '/nothing');
  };
  const removedAtMs = Date.UTC(2030, 11, 5);
  await advanceTo(removedAtMs - 1);
  const longWays = await countLongWays(async () => {
    assert.equal((await service.request(key, '/pets/1')).status, 200);
  });
  assert.equal(longWays, 0);
  await advanceTo(removedAtMs);
  await expectError(await service.request(key, '/pets/1'), 410, 'gone');
  await expectError(await service.request(key, '/pets/2'), 410, 'gone');
});

for (const path of ['/pets/1', '/pets'])
  test(`${path} is 503 on either way where the store cannot do it, with the headers of its one count`, async (t) => {
    const { baseUrl, key } = await startFaultyService(t);
    const authorization = `Bearer ${key}`;
    const short = await fetch(`${baseUrl}${path}`, { headers: { authorization } });
    const long = await fetch(`${baseUrl}${path}`, { headers: { authorization, ...longWay } });
    assert.deepEqual(listSteadyHeaders(short), listSteadyHeaders(long));
    assert.equal(short.headers.get('x-ratelimit-remaining'), '999');
    assert.equal(long.headers.get('x-ratelimit-remaining'), '998');
    await expectError(short, 503, 'unavailable');
    await expectError(long, 503, 'unavailable');
  });

test('gets of animals that are not ready are counted and timed', async (t) => {
  const { service, key } = await startWith(t);
  for (const id of [1, 2, 3]) await service.request(key, `/pets/${id}`);
  const metrics = await (await fetch(`${service.app.opsUrl}/metrics`)).text();
  assert.match(metrics, /_requests_total\{route="GET \/v1\/pets\/:petId",status="200"\} 3\n/);
  assert.match(metrics, /_ready_answers_total\{source="store"\} 3\n/);
  const [, seconds] =
    /_duration_seconds_sum\{route="GET \/v1\/pets\/:petId",status="200"\} (\S+)/.exec(metrics) ?? [];
  assert.ok(Number(seconds) > 0, `${seconds} s`);
});

for (const [target, logged] of [
  ['/pets/1', '/pets/1'],
  ['/pets?limit=3', '/pets'],
] as const)
  test(`${target}: what waits for PostgreSQL longer than a second has its line in the log, without a query`, {
    skip: postgres.skip,
  }, async (t) => {
    const { service, key, url } = await startWith(t, postgres);
    const locking = await lockPets(url);
    try {
      const startedAtMs = performance.now();
      const reading = service.request(key, target);
      while (performance.now() - startedAtMs < 1_100) await service.request(key, '/nothing');
      await locking.query('rollback');
      const response = await reading;
      assert.equal(response.status, 200);
      const { level, method, path, status } = findLine(service, response);
      assert.deepEqual(
        { level, method, path, status },
        { level: 40, method: 'GET', path: `/v1${logged}`, status: 200 },
      );
    } finally {
      await locking.end();
    }
  });

test('a client that goes away while PostgreSQL is asked for its animal harms nobody', {
  skip: postgres.skip,
}, async (t) => {
  const { service, key, url } = await startWith(t, postgres);
  const locking = await lockPets(url);
  try {
    const connection = await openRaw(t, service.baseUrl);
    const headers = { authorization: `Bearer ${key}`, connection: 'keep-alive' };
    connection.send(formatRequest('GET /v1/pets/1', headers));
    await service.untilCounted(key, 2);
    connection.reset();
    await locking.query('rollback');
    assert.equal((await service.request(key, '/pets/1')).status, 200);
    assert.doesNotMatch(service.readLog(), /"status":5/);
  } finally {
    await locking.end();
  }
});
